// What waits for an answer: the list, the chosen one, and the letters.
import { Component, html } from "/assets/core/html.js";
import { letterOf } from "/assets/core/keys.js";
import { elapsed, sentence } from "/assets/core/text.js";
import { VirtualList } from "/assets/core/virtual.js";
import { Answering } from "/assets/inbox/answering.js";
import { Detail } from "/assets/inbox/detail.js";

const ROW = 44; // pixels; as in styles.css
const SYMBOLS = {
  script: "❯_",
  tool: "✎",
  step: "»",
  spawn: "◉",
  ask: "↯",
  tracks: "▤",
  gate: "◈",
  merge: "⇥",
  unknown: "?",
  review: "◎",
};

export class Inbox extends Component {
  constructor(props) {
    super(props);
    this.state = { chosen: "", at: 0 };
    this.detail = null; // the shown approval, which acts on letters
    this.answering = new Answering(props.workbench, () => this.setState({}));
    this.onKey = this.onKey.bind(this);
    this.anyKey = this.anyKey.bind(this);
    props.workbench.onInbox = () => this.announce();
    this.known = null;
  }

  componentDidMount() {
    addEventListener("keydown", this.anyKey, true);
    this.announce();
  }

  // The shown approval stays shown when a more urgent one comes.
  componentDidUpdate() {
    const { rows } = this.props.workbench.state.inbox;
    const at = this.index(rows);
    if (!rows.length && this.answering.given && document.activeElement === document.body) {
      this.answering.given = "";
      document.getElementById("inbox-title").focus({ preventScroll: true });
    }
    if (rows[at] && (rows[at].id !== this.state.chosen || at !== this.state.at)) this.choose(at);
  }

  componentWillUnmount() {
    removeEventListener("keydown", this.anyKey, true);
    this.answering.takeBack();
  }

  // New approvals are said in a live region, and outside of a hidden page by a notification without any content.
  announce() {
    const { inbox, inboxVersion } = this.props.workbench.state;
    if (inboxVersion === 0) return; // not read yet
    const ids = inbox.rows.flatMap((row) => row.alike.map((one) => [one.id, row]));
    const fresh = this.known === null ? [] : ids.filter(([id]) => !this.known.has(id));
    this.known = new Set(ids.map(([id]) => id));
    if (!fresh.length) return;
    const [id, row] = fresh[0];
    const more = fresh.length > 1 ? ` and ${fresh.length - 1} more` : "";
    this.setState({ said: `New approval ${id}: ${sentence(row.title)}${more}` });
    if (document.hidden && window.Notification?.permission === "granted") {
      new Notification(`Interlock: ${row.kind} ${id}${more}`, { tag: "interlock" });
    }
  }

  // Any key takes a held answer back, wherever the focus is.
  anyKey(event) {
    if (event.repeat || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
    if (this.answering.takeBack()) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  index(rows) {
    const found = rows.findIndex((row) => row.id === this.state.chosen);
    return found >= 0 ? found : Math.min(this.state.at, Math.max(0, rows.length - 1));
  }

  choose(at) {
    const row = this.props.workbench.state.inbox.rows[at];
    if (row) this.setState({ chosen: row.id, at });
  }

  onKey(event) {
    const { rows } = this.props.workbench.state.inbox;
    const inList = event.target.getAttribute?.("role") === "listbox";
    const at = this.index(rows);
    const letter = letterOf(event);
    const moves = { j: 1, k: -1, ...(inList && { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }) };
    const by = moves[letter] ?? moves[event.key];
    if (by && !event.ctrlKey && !event.metaKey && !event.altKey) {
      this.choose(Math.max(0, Math.min(rows.length - 1, at + by)));
      event.preventDefault();
    } else if (inList && (event.key === "Home" || event.key === "End")) {
      this.choose(event.key === "Home" ? 0 : rows.length - 1);
      event.preventDefault();
    } else if (letter && this.detail?.byLetter(letter)) {
      event.preventDefault();
    }
  }

  render({ workbench }, { said }) {
    const { inbox, began } = workbench.state;
    const { held } = this.answering;
    const at = this.index(inbox.rows);
    const row = inbox.rows[at];
    return html`<section class="panel inbox" aria-labelledby="inbox-title" onKeyDown=${this.onKey}>
      <header class="panel-head"><h2 id="inbox-title" tabindex="-1">Inbox</h2>
        <span class=${inbox.total ? "waiting" : "dim"}>${inbox.total.toLocaleString("en")} waiting</span>
        <span class="dim keys-hint">j / k to move</span></header>
      <p class="unseen" aria-live="polite" role="status">${said}</p>
      <div class="held" role="alert">${held && html`<span>${held.words} in 2 s: Esc or any other key takes it back</span>
        <button type="button" onClick=${() => this.answering.takeBack()}>Take back</button>`}</div>
      ${row
        ? html`${this.list(inbox.rows, at)}
          <${Detail} present=${(detail) => (this.detail = detail)} row=${row} workbench=${workbench} answering=${this.answering} />`
        : html`<div class="empty"><p>${began ? "No pending approvals" : "Reading …"}</p>
            <p class="dim">Actions that no rule allows are shown here before they run, with asker, reason and exact text.</p>
          </div>`}
    </section>`;
  }

  list(rows, at) {
    const row = (index) => {
      const { id, kind, title, ticket, requested_at, alike } = rows[index];
      const chosen = index === at;
      return html`<div key=${id} id=${`row-${id}`} role="option" aria-selected=${chosen ? "true" : "false"}
        aria-setsize=${rows.length} aria-posinset=${index + 1} class=${`inbox-row ${chosen ? "chosen" : ""}`}
        onClick=${() => this.setState({ chosen: id, at: index })}>
        <span class="waiting symbol" aria-hidden="true">${SYMBOLS[kind]}</span>
        <span class="row-title">${alike.length > 1 ? `${alike.length}× ` : ""}${sentence(title)}</span>
        <span class="dim row-id">${id}${ticket ? ` · ${kind}` : ""}</span>
        <span class="dim row-time">${elapsed(requested_at)}</span>
      </div>`;
    };
    return html`<${VirtualList} count=${rows.length} rowHeight=${ROW} row=${row} role="listbox" label="Pending approvals"
      className="inbox-list" most="30vh" shown=${at} aria-activedescendant=${`row-${rows[at].id}`} />`;
  }
}
