// The event stream, read by `fetch` so that the token is in a header and never in an address.
// After a break it continues with Last-Event-ID: no event is lost and none is taken twice.

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
const SILENCE_MS = 40_000; // the server sends a comment every 15 seconds

export class EventStream {
  // `hears` has: record(name, version, data), other(name, data), connected(), lost(), foreign(), ended(reason)
  constructor(session, hears) {
    this.session = session;
    this.hears = hears;
    this.version = null; // of the last event that was taken
    this.counts = { received: 0, missed: 0, repeated: 0 };
    this.stopped = false;
    this.pause = FIRST_PAUSE_MS;
    this.wakeUp = () => {};
  }

  async run(version) {
    this.version = version;
    while (!this.stopped) {
      await this.follow();
      if (this.stopped) return;
      this.hears.lost();
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, this.pause);
        this.wakeUp = () => (clearTimeout(timer), resolve());
      });
      this.pause = Math.min(this.pause * 2, LONGEST_PAUSE_MS);
    }
  }

  retryNow() {
    this.pause = FIRST_PAUSE_MS;
    this.wakeUp();
  }

  stop() {
    this.stopped = true;
    this.cancel?.abort();
    this.wakeUp();
  }

  async follow() {
    this.cancel = new AbortController();
    let silence = setTimeout(() => this.cancel.abort(), SILENCE_MS);
    try {
      const reply = await fetch("/api/events?states=false", {
        headers: { Authorization: `Bearer ${this.session.token}`, "Last-Event-ID": String(this.version) },
        cache: "no-store",
        signal: this.cancel.signal,
      });
      if (reply.status === 401) {
        const { error } = await reply.json();
        this.stop();
        this.hears.ended(error);
        return;
      }
      if (reply.status === 422) {
        this.hears.foreign(); // another journal: everything is read anew
        return;
      }
      if (!reply.ok) return;
      this.pause = FIRST_PAUSE_MS;
      this.hears.connected();
      const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => this.cancel.abort(), SILENCE_MS);
        const frames = (rest + value).split("\n\n");
        rest = frames.pop();
        for (const frame of frames) this.take(frame);
      }
    } catch {
      // The connection broke, or was cut after a long silence: `run` connects again.
    } finally {
      clearTimeout(silence);
    }
  }

  take(frame) {
    let name = "message";
    let id = null;
    let data = "";
    for (const line of frame.split("\n")) {
      const at = line.indexOf(": ");
      const key = line.slice(0, at);
      if (key === "event") name = line.slice(at + 2);
      else if (key === "id") id = Number(line.slice(at + 2));
      else if (key === "data") data += line.slice(at + 2);
    }
    if (!data) return;
    const content = JSON.parse(data);
    if (id === null) {
      this.hears.other(name, content);
      return;
    }
    if (id <= this.version) {
      this.counts.repeated += 1;
      return;
    }
    this.counts.missed += id - this.version - 1;
    this.counts.received += 1;
    this.version = id;
    this.hears.record(name, id, content);
  }
}
