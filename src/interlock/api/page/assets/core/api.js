// Requests to the workbench. A request is sent once: it is never queued and never repeated.

const PATIENCE_MS = 30_000;

export class Refused extends Error {
  constructor(status, kind, message) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

export class NotConnected extends Error {
  constructor() {
    super("not connected to the workbench");
  }
}

export class Api {
  constructor(session, onEnded) {
    this.session = session;
    this.onEnded = onEnded;
  }

  get(path) {
    return this.send("GET", path);
  }

  post(path, body = {}) {
    return this.send("POST", path, body);
  }

  async send(method, path, body) {
    const headers = { Authorization: `Bearer ${this.session.token}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    let reply, answer;
    try {
      reply = await fetch(path, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        cache: "no-store",
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      answer = await reply.json();
    } catch {
      throw new NotConnected();
    }
    if (reply.ok) return answer;
    const refusal = new Refused(reply.status, answer.kind ?? "", answer.error ?? `HTTP ${reply.status}`);
    if (reply.status === 401) this.onEnded(refusal.message);
    throw refusal;
  }
}

export function part(text) {
  return encodeURIComponent(text);
}
