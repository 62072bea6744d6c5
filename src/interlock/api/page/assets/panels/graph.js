// The ticket graph of a track, layered by the server: the longest chain is bright, everything else is quiet.
import { Component, html } from "/assets/core/html.js";
import { oneLine } from "/assets/core/text.js";
import { ticketLook } from "/assets/panels/board.js";

const WIDE = 150;
const HIGH = 44;
const STEP_X = 190;
const STEP_Y = 60;

export class Graph extends Component {
  render({ graph, tickets, chosen, choose }) {
    const known = new Map(tickets.map((one) => [one.id, one]));
    const nodes = graph.nodes.filter((one) => known.has(one.id));
    if (!nodes.length) return null;
    const middle = (graph.rows - 1) / 2;
    const place = new Map(nodes.map((one) => [one.id, [one.column * STEP_X + 8, (one.row + middle) * STEP_Y + 8]]));
    const width = Math.max(...nodes.map((one) => one.column)) * STEP_X + WIDE + 16;
    const height = graph.rows * STEP_Y + 4;
    const longest = new Set(graph.longest.map((edge) => edge.join(" ")));
    return html`<div class="graph" role="region" tabindex="0" aria-label="Ticket graph">
      <svg width=${width} height=${height} role="group" aria-label="Tickets and what they depend on">
        ${graph.edges.map((edge) => drawnEdge(edge, place, longest.has(edge.join(" "))))}
        ${nodes.map((one) => drawnNode(known.get(one.id), place.get(one.id), one.id === chosen, choose))}
      </svg></div>`;
  }
}

function drawnEdge([from, to], place, bright) {
  if (!place.has(from) || !place.has(to)) return null;
  const [x, y] = place.get(from);
  const [toX, toY] = place.get(to);
  const [startX, startY, endY] = [x + WIDE, y + HIGH / 2, toY + HIGH / 2];
  const bend = (toX - startX) / 2;
  return html`<path key=${`${from} ${to}`} class=${bright ? "edge bright" : "edge"}
    d=${`M${startX} ${startY} C${startX + bend} ${startY} ${toX - bend} ${endY} ${toX} ${endY}`} />`;
}

function drawnNode(ticket, [x, y], chosen, choose) {
  const [symbol, tone] = ticketLook(ticket);
  const [name, text] = [oneLine(ticket.id, 16), oneLine(ticket.description, 20)];
  const onKey = (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), choose(ticket.id));
  return html`<g key=${ticket.id} class=${`node ${tone} ${chosen ? "chosen" : ""}`} tabindex="0" role="button"
    aria-label=${`${name} ${symbol} ${text}: ${ticket.status}, ${oneLine(ticket.doing, 80)}`}
    onClick=${() => choose(ticket.id)} onKeyDown=${onKey}>
    <rect x=${x} y=${y} width=${WIDE} height=${HIGH} rx="4" />
    <text x=${x + 10} y=${y + 18} class="node-id">${name}</text>
    <text x=${x + WIDE - 18} y=${y + 18}>${symbol}</text>
    <text x=${x + 10} y=${y + 35} class="node-text">${text}</text></g>`;
}
