// Tracks and tickets: what is done, what waits, what failed, and what a user can do about it.
import { part } from "/assets/core/api.js";
import { Component, html } from "/assets/core/html.js";
import { counted, oneLine, safe } from "/assets/core/text.js";
import { VirtualList } from "/assets/core/virtual.js";
import { Graph } from "/assets/panels/graph.js";

const ROW = 44;
const TRACK_ACTIONS = {
  ready: ["start", "abort"],
  running: ["pause", "abort"],
  paused: ["resume", "abort"],
  done: ["land"],
  blocked: ["land", "abort"],
};
const TICKET_ACTIONS = {
  todo: ["skip", "block", "cancel"],
  in_progress: ["kill", "cancel"],
  blocked: ["retry", "skip", "cancel"],
};
export const TRACK_LOOK = {
  proposed: ["◇", "planner"],
  ready: ["·", "dim"],
  running: ["▶", "running"],
  paused: ["❚❚", "waiting"],
  done: ["✓", "good"],
  blocked: ["✗", "bad"],
  aborted: ["⊘", "dim"],
};

// Colour and symbol of a ticket: never a colour alone.
export function ticketLook(ticket) {
  if (ticket.status === "completed") return ticket.unverified ? ["✓", "waiting"] : ["✓", "good"];
  if (ticket.status === "blocked") return ["✗", "bad"];
  if (ticket.status === "cancelled") return ["⊘", "dim"];
  if (/^(waiting for A-|stopped at its gates|its review)/.test(ticket.doing)) return ["◆", "waiting"];
  return ticket.status === "todo" ? ["◷", "dim"] : ["▶", "running"];
}

export class Board extends Component {
  state = { ticket: "", epic: "" };

  render({ workbench }, { ticket, epic }) {
    const { tracks, track, tickets, graph } = workbench.state;
    const row = tracks.find((one) => one.id === track);
    const chosen = tickets.find((one) => one.id === ticket);
    return html`<section class="panel board" aria-labelledby="board-title">
      <header class="panel-head"><h2 id="board-title">Board</h2><span class="dim">${counted(tracks.length, "track")}</span>
      </header>
      ${this.planner(workbench, epic)}
      ${tracks.length === 0 && html`<p class="empty dim">No tracks yet. Say above what should be done.</p>`}
      <ul class="tracks">${tracks.map((one) => this.track(one, workbench))}</ul>
      ${row && html`<h3>${oneLine(row.title || row.id)}</h3>
        ${this.actions(workbench, row)}
        ${graph && html`<${Graph} graph=${graph} tickets=${tickets} chosen=${ticket}
          choose=${(id) => this.setState({ ticket: id })} />`}
        <${VirtualList} count=${tickets.length} rowHeight=${ROW} row=${(at) => this.ticket(tickets[at], ticket)}
          role="list" label="Tickets" className="tickets" most="40vh" />
        ${chosen && this.detail(workbench, row, chosen)}`}
    </section>`;
  }

  planner(workbench, epic) {
    const plan = async (event) => {
      event.preventDefault();
      if (await workbench.act("the epic", (api) => api.post("/api/epics", { text: epic }))) this.setState({ epic: "" });
    };
    return html`<form class="planner" onSubmit=${plan}>
      <label>New epic <input type="text" value=${epic} placeholder="What should be done"
        onInput=${(event) => this.setState({ epic: event.target.value })} /></label>
      <button type="submit" disabled=${!epic.trim()}>Plan it</button></form>`;
  }

  track(row, workbench) {
    const [symbol, tone] = TRACK_LOOK[row.status];
    const { completed, total } = row.progress;
    const chosen = row.id === workbench.state.track;
    return html`<li key=${row.id}><button type="button" class=${`track ${chosen ? "chosen" : ""}`}
      aria-pressed=${chosen ? "true" : "false"} onClick=${() => workbench.selectTrack(row.id)}>
      <span class=${tone} aria-hidden="true">${symbol}</span>
      <span class="row-title">${oneLine(row.title || row.id)}</span>
      <span class=${tone}>${row.status}</span><span class="dim">${completed}/${total}</span>
      <progress max=${Math.max(1, total)} value=${completed} aria-label=${`${completed} of ${total} completed`}></progress>
    </button></li>`;
  }

  actions(workbench, row) {
    const press = (deed) => () =>
      workbench.act(`${deed} ${row.id}`, (api) => api.post(`/api/tracks/${part(row.id)}/${deed}`));
    return html`<div class="buttons" role="group" aria-label="Track">${(TRACK_ACTIONS[row.status] ?? []).map(
      (deed) => html`<button type="button" key=${deed} class=${deed === "abort" ? "stop" : ""} data-deed=${deed}
        onClick=${press(deed)}>${deed[0].toUpperCase() + deed.slice(1)}</button>`,
    )}</div>`;
  }

  ticket(row, chosen) {
    const [symbol, tone] = ticketLook(row);
    return html`<div role="listitem" key=${row.id}><button type="button" class=${`ticket ${row.id === chosen ? "chosen" : ""}`}
      aria-pressed=${row.id === chosen ? "true" : "false"} onClick=${() => this.setState({ ticket: row.id })}>
      <span class=${tone} aria-hidden="true">${symbol}</span><b>${row.id}</b>
      <span class="row-title">${oneLine(row.description)}</span><span class=${tone}>${oneLine(row.doing, 80)}</span>
    </button></div>`;
  }

  detail(workbench, track, ticket) {
    const press = (deed) => () =>
      workbench.act(`${deed} ${ticket.id}`, (api) =>
        deed === "kill"
          ? api.post("/api/workers/kill", { track: track.id, ticket: ticket.id })
          : api.post(`/api/tracks/${part(track.id)}/tickets/${part(ticket.id)}/${deed}`, {}),
      );
    return html`<article class="ticket-detail" aria-label=${`Ticket ${ticket.id}`}>
      <h4>${ticket.id}</h4><p class="pre">${safe(ticket.description)}</p>
      <p class="dim">${ticket.status} · ${safe(ticket.doing)} · ${counted(ticket.attempts, "attempt")} · ${ticket.assigned_to}
        · priority ${ticket.priority}${ticket.depends_on.length ? ` · after ${ticket.depends_on.join(", ")}` : ""}</p>
      ${ticket.blocked_reason && html`<p class="bad pre">${safe(ticket.blocked_reason)}</p>`}
      ${ticket.result && html`<p class="pre">${safe(ticket.result)}</p>`}
      <div class="buttons" role="group" aria-label="Ticket">${(TICKET_ACTIONS[ticket.status] ?? []).map(
        (deed) => html`<button type="button" key=${deed} data-deed=${deed} onClick=${press(deed)}>${
          deed[0].toUpperCase() + deed.slice(1)
        }</button>`,
      )}</div></article>`;
  }
}
