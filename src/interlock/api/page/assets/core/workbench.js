// What the page knows of the workbench: read through the API, refreshed after events, never guessed.
import { Api, NotConnected, part } from "/assets/core/api.js";
import { EventStream } from "/assets/core/events.js";

const SOON_MS = 80; // several events lead to one request
const REST_MS = 400; // between two requests for the same data
const NOTE_MS = 8_000;
const MOST_STREAM = 200_000; // characters of one stream, from its end
const PAGE = 1_000;

export class Workbench {
  constructor(session, changed, ended) {
    this.session = session;
    this.changed = changed; // called after every change of `state`
    this.api = new Api(session, ended);
    this.state = {
      connected: false,
      began: false,
      overview: null,
      inbox: { rows: [], total: 0 },
      inboxVersion: 0,
      tracks: [],
      track: "",
      tickets: [],
      graph: null,
      discussions: [],
      discussion: "",
      messages: [],
      usage: { tier: {}, track: {} },
      values: {},
      streams: new Map(),
      notes: [],
      latest: "",
    };
    this.due = new Map(); // what is to be read → when it was read last, and the timer of the next time
    this.events = new EventStream(session, this);
    this.onInbox = () => {};
    this.ended = ended;
  }

  async begin() {
    await this.read("overview");
    const version = this.state.overview?.version;
    if (version === undefined) return false;
    this.events.run(version);
    await Promise.all(["inbox", "tracks", "discussions", "usage", "values"].map((what) => this.read(what)));
    this.set({ began: true });
    return true;
  }

  set(changes) {
    this.state = { ...this.state, ...changes };
    this.changed();
  }

  note(text, tone = "info") {
    const note = { text, tone, id: crypto.randomUUID() };
    this.set({ notes: [...this.state.notes.slice(-4), note] });
    setTimeout(() => this.set({ notes: this.state.notes.filter((one) => one !== note) }), NOTE_MS);
  }

  // An action of the user: what went wrong is said, and `true` means that the workbench has done it.
  async act(what, work) {
    if (!this.state.connected) {
      this.note(`${what}: not connected, so nothing was sent`, "bad");
      return false;
    }
    try {
      await work(this.api);
      return true;
    } catch (error) {
      if (error instanceof NotConnected) {
        this.events.retryNow();
        this.note(`${what}: the connection broke; it is not known whether the workbench got it`, "bad");
      } else {
        this.note(`${what}: ${error.message}`, "bad");
      }
      return false;
    }
  }

  // ── reading ──────────────────────────────────────────────────────────────────────────

  soon(what) {
    const entry = this.due.get(what) ?? { last: 0, timer: 0 };
    this.due.set(what, entry);
    if (entry.timer) return;
    const pause = Math.max(SOON_MS, entry.last + REST_MS - performance.now());
    entry.timer = setTimeout(() => {
      entry.timer = 0;
      entry.last = performance.now();
      this.read(what);
    }, pause);
  }

  async read(what) {
    try {
      this.set(await this.fetched(what));
    } catch (error) {
      if (error instanceof NotConnected) this.events.retryNow();
      else if (error.status !== 401) this.note(`${what} cannot be read: ${error.message}`, "bad");
    }
    if (what === "inbox") this.onInbox();
  }

  async fetched(what) {
    const { api } = this;
    switch (what) {
      case "overview":
        return { overview: await api.get("/api/overview") };
      case "inbox":
        return { inbox: await api.get("/api/inbox"), inboxVersion: this.state.inboxVersion + 1 };
      case "tracks":
        return this.withTracks(await this.all("/api/tracks", "tracks"));
      case "tickets":
        return this.withTickets(this.state.track);
      case "discussions":
        return { discussions: await this.all("/api/discussions", "discussions") };
      case "messages":
        return this.withMessages(this.state.discussion);
      case "usage": {
        const [tier, track] = await Promise.all(["tier", "track"].map((by) => api.get(`/api/usage?by=${by}`)));
        return { usage: { tier: tier.usage, track: track.usage } };
      }
      default:
        return { values: (await api.get("/api/gui/state")).fields };
    }
  }

  async all(path, key) {
    const rows = [];
    for (let offset = 0; offset !== null; ) {
      const page = await this.api.get(`${path}?offset=${offset}&limit=${PAGE}`);
      rows.push(...page[key]);
      offset = page.next_offset;
    }
    return rows;
  }

  withTracks(tracks) {
    const known = tracks.some((one) => one.id === this.state.track);
    const running = tracks.find((one) => one.status === "running") ?? tracks.findLast((one) => one.status !== "proposed");
    const track = known ? this.state.track : running?.id ?? "";
    if (track && (!known || this.state.tickets.length === 0)) this.soon("tickets");
    return { tracks, track };
  }

  async withTickets(track) {
    const row = this.state.tracks.find((one) => one.id === track);
    if (!row || row.status === "proposed") return { tickets: [], graph: null };
    const path = `/api/tracks/${part(track)}`;
    const [tickets, graph] = await Promise.all([
      this.all(`${path}/tickets`, "tickets"),
      row.progress.total <= 400 ? this.api.get(`${path}/graph`) : null,
    ]);
    return track === this.state.track ? { tickets, graph } : {};
  }

  async withMessages(discussion) {
    if (!discussion) return { messages: [] };
    const whole = await this.api.get(`/api/discussions/${part(discussion)}`);
    return discussion === this.state.discussion ? { messages: whole.messages } : {};
  }

  selectTrack(track) {
    this.set({ track, tickets: [], graph: null });
    this.read("tickets");
  }

  selectDiscussion(discussion) {
    this.set({ discussion, messages: [] });
    this.read("messages");
  }

  // ── what the event stream tells ──────────────────────────────────────────────────────

  connected() {
    const again = this.state.began && !this.state.connected;
    this.set({ connected: true });
    if (again) for (const what of ["overview", "inbox", "tracks", "tickets", "discussions", "messages"]) this.soon(what);
  }

  lost() {
    if (this.state.connected) this.set({ connected: false });
  }

  // The journal is another one than before, for example after a restore: nothing that was read counts.
  foreign() {
    location.reload();
  }

  record(name, version, data) {
    const kind = name.split("_", 1)[0];
    if (kind === "approval" || kind === "approvals") this.soon("inbox");
    if (["approval", "approvals", "ticket", "track", "epic", "attempt", "gate", "merge", "landing"].includes(kind)) {
      this.soon("tracks");
      this.soon("tickets");
    }
    if (kind === "discussion" || kind === "approval") {
      this.soon("discussions");
      if (this.state.discussion) this.soon("messages");
    }
    if (kind === "call" || kind === "turn") this.soon("usage");
    this.soon("overview");
    this.set({ latest: `${name.replaceAll("_", " ")}${data.event?.ticket ? ` ${data.event.ticket}` : ""}` });
  }

  other(name, data) {
    if (name === "stream") this.takeText(data);
    else if (name === "streams_cleared") this.set({ streams: new Map() });
    else if (name === "response") {
      this.soon("discussions");
      this.soon("messages");
    }
  }

  takeText({ key, text, delta }) {
    const before = text === undefined ? this.state.streams.get(key) ?? "" : "";
    const streams = new Map(this.state.streams);
    streams.set(key, (before + (text ?? delta)).slice(-MOST_STREAM));
    this.set({ streams });
  }
}
