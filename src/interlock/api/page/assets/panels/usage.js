// Tokens and dollars, by tier and by track.
import { Component, html } from "/assets/core/html.js";
import { dollars, oneLine } from "/assets/core/text.js";

export class Usage extends Component {
  componentDidMount() {
    this.props.workbench.soon("usage");
  }

  render({ workbench }) {
    const { usage } = workbench.state;
    return html`<section class="panel usage" aria-labelledby="usage-title">
      <header class="panel-head"><h2 id="usage-title">Usage</h2></header>
      ${table("By tier", usage.tier)}${table("By track", usage.track)}</section>`;
  }
}

function table(title, rows) {
  const names = Object.keys(rows);
  if (!names.length) return html`<h3>${title}</h3><p class="dim">No model was called yet.</p>`;
  const number = (value) => (value ?? 0).toLocaleString("en");
  return html`<h3>${title}</h3><div class="wide-table" role="region" tabindex="0" aria-label=${title}><table>
    <thead><tr><th scope="col">Name</th><th scope="col">Input</th><th scope="col">Output</th>
      <th scope="col">Cached</th><th scope="col">Cost</th><th scope="col">Unknown</th><th scope="col">No price</th></tr></thead>
    <tbody>${names.map((name) => {
      const row = rows[name];
      return html`<tr key=${name}><th scope="row">${oneLine(name, 60) || "(none)"}</th><td>${number(row.input)}</td><td>${number(row.output)}</td><td>${number(row.cache_read)}</td>
        <td>${dollars(row.cost_usd)}</td><td>${dollars(row.unknown_usd)}</td>
        <td>${number(row.unpriced)}</td></tr>`;
    })}</tbody></table></div>`;
}
