// The whole page: the bar at the top, the panels, and the notes.
import { Component, html } from "/assets/core/html.js";
import { dollars, oneLine, safe } from "/assets/core/text.js";
import { Inbox } from "/assets/inbox/inbox.js";
import { Board } from "/assets/panels/board.js";
import { Discussion } from "/assets/panels/discussion.js";
import { Project } from "/assets/panels/project.js";
import { Streams } from "/assets/panels/streams.js";
import { Usage } from "/assets/panels/usage.js";

const PANELS = [
  ["inbox", "Inbox"],
  ["board", "Board"],
  ["streams", "Streams"],
  ["discussion", "Discussion"],
  ["usage", "Usage"],
  ["project", "Project"],
];
const DRAWN = { board: Board, streams: Streams, discussion: Discussion, usage: Usage, project: Project };
const WIDE = matchMedia("(min-width: 1100px)");

export class App extends Component {
  state = { panel: "inbox", wide: WIDE.matches };

  componentDidMount() {
    WIDE.addEventListener("change", () => this.setState({ wide: WIDE.matches }));
    const title = () => {
      const { inbox, connected } = this.props.workbench.state;
      document.title = `${connected ? (inbox.total ? `(${inbox.total}) ` : "") : "(not connected) "}Interlock`;
    };
    this.title = title;
    title();
  }

  componentDidUpdate() {
    this.title();
  }

  render({ workbench }, { panel, wide }) {
    const { connected, notes } = workbench.state;
    const shown = wide && panel === "inbox" ? "board" : panel;
    const Panel = DRAWN[shown];
    return html`<div class="shell">
      <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
      ${top(workbench.state)}
      ${!connected && html`<p class="offline" role="alert">Not connected to the workbench. What you see may be old, and
        answers cannot be sent. The page tries again by itself.</p>`}
      <nav aria-label="Panels">${PANELS.filter(([name]) => !wide || name !== "inbox").map(([name, label]) => html`<button
        type="button" key=${name} aria-current=${name === shown ? "page" : undefined}
        onClick=${() => this.setState({ panel: name })}>${label}${
          name === "inbox" && workbench.state.inbox.total ? ` (${workbench.state.inbox.total})` : ""
        }</button>`)}</nav>
      <main id="main" tabindex="-1" class=${wide ? "wide" : ""}>
        ${Panel && html`<${Panel} key=${shown} workbench=${workbench} show=${(name) => this.setState({ panel: name })} />`}
        <div class=${wide || shown === "inbox" ? "inbox-place" : "away"} hidden=${!wide && shown !== "inbox"}>
          <${Inbox} workbench=${workbench} /></div>
      </main>
      <div class="notes" role="log" aria-live="polite" aria-label="Notes">${notes.map(
        (note) => html`<p key=${note.id} class=${`note ${note.tone}`}>${safe(note.text)}</p>`,
      )}</div>
      ${bottom(workbench)}
    </div>`;
  }
}

function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

const WORDS = {
  stopped: ["■ STOPPED", "bad"],
  waiting: ["◆ WAITING", "waiting"],
  running: ["▶ RUNNING", "running"],
  idle: ["· IDLE", "dim"],
};

function top({ overview, connected, inbox }) {
  if (!overview) return html`<header class="top"><h1>Interlock</h1></header>`;
  const [word, tone] = connected ? WORDS[overview.state] : ["⚠ NOT CONNECTED", "bad"];
  const cap = overview.cap_usd;
  const names = overview.workers.map((one) => one.split("/").pop());
  const off = overview.sandbox === "off";
  return html`<header class="top">
    <h1>Interlock</h1>
    <span class="dim project">${oneLine(overview.project, 40)}</span>
    <span class=${`pill ${tone}`} id="state">${word}</span>
    <span class=${`pill ${inbox.total ? "waiting" : "dim"}`}>${
      inbox.total ? `◆ ${inbox.total.toLocaleString("en")} waiting for you` : "nothing waits for you"
    }</span>
    <span class=${`pill ${overview.verified ? "good" : "dim"}`}>✓ ${overview.verified} of ${overview.total} verified</span>
    ${overview.blocked > 0 && html`<span class="pill bad">✗ ${overview.blocked} blocked</span>`}
    ${overview.test_policy && html`<span class="pill bad">⚠ TEST POLICY</span>`}
    <span class="room"></span>
    ${names.length > 0 && html`<span class="dim">${safe(names.slice(0, 3).join(", "))}${
      names.length > 3 ? ` +${names.length - 3}` : ""
    }</span>`}
    <span>${dollars(overview.spent_usd)}${cap ? ` of ${dollars(cap)}` : " spent"}</span>
    ${overview.autonomy !== "ask" && html`<span class="waiting">autonomy ${overview.autonomy}</span>`}
    <span class=${off ? "bad" : "good"}>${off ? "SANDBOX OFF" : `sandbox ${overview.sandbox}`}</span>
    <span class=${overview.answers ? "waiting" : "dim"}>${overview.answers ? "may answer" : "may not answer"}</span>
  </header>`;
}

function bottom({ state, events }) {
  const { overview, latest } = state;
  const model = overview?.model || overview?.provider || "no model chosen";
  return html`<footer class="bottom"><span>journal ${events.version ?? 0} · ${oneLine(model, 40)}</span>
    <span>${oneLine(latest, 80)}</span></footer>`;
}
