import type { PlanServices, Scope } from '@svc/contracts';
import { arrows, cross, type Html, html, productMark, shield, tick } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { type Icon, toRedirectHost } from '../../apps/index.ts';
import type { BrowserSession } from '../../sessions/index.ts';
import type { Publisher } from '../get-consent.ts';
import { scopeText } from '../scope.ts';
import { type BudgetForm, budgetFields } from './budget-form.ts';
import { isolated, type PageContext, pageFooter, pageForm } from './page-context.ts';
import { renderPage } from './page-layout.ts';

export interface ConsentView {
  readonly session: BrowserSession;
  readonly scopes: readonly Scope[];
  readonly publisher: Publisher;
  readonly icon: Icon;
  readonly isConnected: boolean;
  readonly budget: BudgetForm;
  /** Services of the person's plan; undefined if they are unknown. */
  readonly services: PlanServices | undefined;
  readonly notice: string | undefined;
}

/** Renders the consent page of an app. */
export const consentPage = (context: PageContext, view: ConsentView): ReplyContent => {
  const { text, app, query } = context;
  const title = text.consentTitle(context.appName);
  const content = html`
<div class="parties"><img src="data:${view.icon.contentType};base64,${view.icon.bytes.toString('base64')}" alt="">${arrows()}${productMark()}</div>
<h1>${title}</h1>
${view.notice === undefined ? undefined : html`<p class="alert" role="alert">${view.notice}</p>`}
<p class="soft wrap">${text.publishedBy} <strong>${isolated(view.publisher.name)}</strong></p>
${publisherMark(context, view.publisher)}
${view.isConnected ? html`<p class="soft">${text.alreadyConnected}</p>` : undefined}
${whoForm(context, view.session)}
<h2 id="asks">${text.asks}</h2>
<ul aria-labelledby="asks">${view.scopes.map((scope) => scopeItem(context, scope, view.services))}</ul>
${paysBox(context, view)}
<h2 id="never">${text.never}</h2>
<ul aria-labelledby="never">${text.neverList.map((line) => html`<li class="never">${cross()}<span class="soft">${line}</span></li>`)}</ul>
${pageForm(
  context,
  'decision',
  html`${view.scopes.includes('inference') ? budgetFields(context, view.budget) : undefined}
<div class="choice">
<button type="submit" name="decision" value="approve">${text.approve}</button>
<button class="second" type="submit" name="decision" value="deny">${text.deny}</button>
</div>`,
)}
<p class="soft wrap">${text.goesTo} <strong>${isolated(toRedirectHost(query.redirect_uri))}</strong>. ${text.revocable}</p>
${pageFooter(context, [link(app.homepageUrl, text.homepage), link(app.privacyPolicyUrl, text.privacy)])}`;
  return renderPage(200, { locale: query.locale, title, content, formTarget: context.formTarget });
};

/** Renders the publisher's verified domain, or that it has none. The symbol only repeats the text. */
const publisherMark = ({ text }: PageContext, { verifiedDomain }: Publisher): Html =>
  verifiedDomain === null
    ? html`<p class="proof soft"><strong>${text.publisherUnverified}</strong> ${text.publisherUnverifiedHint}</p>`
    : html`<p class="proof wrap">${shield()}<span>${text.publisherVerified} <strong dir="ltr">${verifiedDomain}</strong></span></p>`;

const scopeItem = ({ query }: PageContext, scope: Scope, services: PlanServices | undefined): Html => {
  const { title, description } = scopeText(scope, query.locale, services);
  // The box below explains in detail who pays for inference.
  const more = scope === 'inference' ? undefined : html`<span class="soft">${description}</span>`;
  return html`<li>${tick()}<strong>${title}</strong>${more}</li>`;
};

/** Renders who pays for the app's use, and the limit. */
const paysBox = ({ text }: PageContext, { scopes, services }: Pick<ConsentView, 'scopes' | 'services'>): Html => {
  const hasPlan = services === undefined || services.chat || services.audio_transcription;
  const { title, line } = scopes.includes('inference') ? (hasPlan ? text.paysUser : text.noPlan) : text.paysNobody;
  return html`<p class="pays"><strong>${title}</strong>${line}</p>`;
};

const whoForm = (context: PageContext, { account }: BrowserSession): Html => html`
<div class="who"><span class="wrap">${context.text.signedInAs} <strong>${isolated(account.email)}</strong></span>
${pageForm(context, 'sign-out', html`<button class="link" type="submit">${context.text.notYou}</button>`)}</div>`;

const link = (url: string | null, label: string): Html | undefined =>
  url === null ? undefined : html`<a href="${url}" target="_blank" rel="noopener noreferrer">${label}</a>`;
