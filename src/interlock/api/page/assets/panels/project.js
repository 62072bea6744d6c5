// The model, and this browser's session.
import { part } from "/assets/core/api.js";
import { Component, html } from "/assets/core/html.js";
import { safe } from "/assets/core/text.js";

const FIELDS = [
  ["current_provider", "Provider"],
  ["current_model", "Model"],
];
const WITH_TEST_POLICY = ["gcli_path", "Command of gemini_cli"];

export class Project extends Component {
  state = { sessions: [], typed: {} };

  componentDidMount() {
    this.props.workbench.soon("values");
    this.list();
  }

  list() {
    this.props.workbench.api.get("/api/sessions").then(
      ({ sessions }) => this.setState({ sessions }),
      () => {}, // the list stays empty; the panel's other parts say what is wrong
    );
  }

  render({ workbench }, { sessions }) {
    const { overview } = workbench.state;
    const fields = overview?.test_policy ? [...FIELDS, WITH_TEST_POLICY] : FIELDS;
    return html`<section class="panel project-panel" aria-labelledby="project-title">
      <header class="panel-head"><h2 id="project-title">Project</h2></header>
      <h3>Model</h3>${fields.map(([name, label]) => this.field(name, label))}
      <div class="buttons"><button type="button" id="save" onClick=${this.save}>Save in interlock.toml</button></div>
      <h3>This page</h3>${this.page(workbench, overview)}
      <h3>Sessions</h3><ul class="sessions">${sessions.map((one) => this.session(one, overview))}</ul>
    </section>`;
  }

  field(name, label) {
    const { workbench } = this.props;
    const value = this.state.typed[name] ?? workbench.state.values[name] ?? "";
    const onInput = (event) => this.setState({ typed: { ...this.state.typed, [name]: event.target.value } });
    const onChange = async (event) => {
      const body = { action: "set_value", item: name, value: event.target.value };
      await workbench.act(label, (api) => api.post("/api/gui", body));
      const { [name]: _, ...typed } = this.state.typed;
      this.setState({ typed });
      workbench.soon("values");
      workbench.soon("overview");
    };
    return html`<label class="field" key=${name}>${label}
      <input type="text" id=${name} value=${value} onInput=${onInput} onChange=${onChange} spellcheck="false" /></label>`;
  }

  save = async () => {
    const { workbench } = this.props;
    const body = { action: "click", item: "btn_project_save" };
    if (await workbench.act("save", (api) => api.post("/api/gui", body))) workbench.note("saved in interlock.toml", "good");
  };

  page(workbench, overview) {
    const { counts } = workbench.events;
    const permission = window.Notification?.permission;
    const ask = async () => {
      await Notification.requestPermission();
      this.setState({});
    };
    return html`<p>${safe(overview?.person)} · ${
      overview?.answers ? "this session may answer approvals" : safe(overview?.why_not)
    }</p>
      <p id="counts" class="dim">events received ${counts.received}, missed ${counts.missed}, repeated ${counts.repeated}</p>
      <p class="dim">Notifications come only while this page is open, and name an id and a kind. There is no push.</p>
      <div class="buttons">${permission === "default" && html`<button type="button" onClick=${ask}>Notify me</button>`}
        ${permission === "granted" && html`<span class="good">✓ notifications are on</span>`}
        ${permission === "denied" && html`<span class="dim">the browser refuses notifications</span>`}
        <button type="button" onClick=${() => this.revoke(overview.session)}>End this session</button></div>`;
  }

  session(one, overview) {
    const own = one.id === overview?.session;
    return html`<li key=${one.id}><code>${one.id}</code> ${one.capability}${own ? " (this one)" : ""}
      <span class="dim"> · last used ${safe(one.used_at)} · ends ${safe(one.expires_at)} · ${safe(one.browser)}</span>
      ${overview?.capability === "approve" && !own && html` <button type="button" class="quiet"
        onClick=${() => this.revoke(one.id)} aria-label=${`End session ${one.id}`}>End</button>`}</li>`;
  }

  async revoke(id) {
    await this.props.workbench.act("end the session", (api) => api.send("DELETE", `/api/sessions/${part(id)}`, {}));
    this.list();
  }
}
