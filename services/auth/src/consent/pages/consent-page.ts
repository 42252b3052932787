import type { Scope } from '@svc/contracts';
import type { ReplyContent } from '@svc/service-kit';
import { type Icon, toRedirectHost } from '../../apps/index.ts';
import type { BrowserSession } from '../../sessions/index.ts';
import { scopeText } from '../scope.ts';
import { type Html, html } from './html.ts';
import { isolated, type PageContext, pageFooter, pageForm } from './page-context.ts';
import { renderPage } from './page-layout.ts';

/** What a person decides on. */
export interface ConsentView {
  session: BrowserSession;
  scopes: readonly Scope[];
  publisher: string;
  icon: Icon;
  isConnected: boolean;
}

/** Asks whether an app may have what it asks for. */
export const consentPage = (context: PageContext, view: ConsentView): ReplyContent => {
  const { text, app, query } = context;
  const title = text.consentTitle(context.appName);
  const content = html`
<img class="icon" src="data:${view.icon.contentType};base64,${view.icon.bytes.toString('base64')}" alt="">
<h1>${title}</h1>
<p class="soft wrap">${text.publishedBy} <strong>${isolated(view.publisher)}</strong></p>
${view.isConnected ? html`<p class="soft">${text.alreadyConnected}</p>` : undefined}
<p id="asks">${text.asks}</p>
<ul class="scopes" aria-labelledby="asks">${view.scopes.map((scope) => scopeItem(context, scope))}</ul>
<p class="soft wrap">${text.goesTo} <strong>${isolated(toRedirectHost(query.redirect_uri))}</strong>. ${text.revocable}</p>
${whoForm(context, view.session)}
${pageForm(
  context,
  'decision',
  html`
<button type="submit" name="decision" value="approve">${text.approve}</button>
<button class="second" type="submit" name="decision" value="deny">${text.deny}</button>`,
)}
${pageFooter(context, [link(app.homepageUrl, text.homepage), link(app.privacyPolicyUrl, text.privacy)])}`;
  return renderPage(200, { locale: query.locale, title, content, formTarget: context.formTarget });
};

const scopeItem = ({ query }: PageContext, scope: Scope): Html => {
  const { title, description } = scopeText(scope, query.locale);
  return html`<li><strong>${title}</strong><span class="soft">${description}</span></li>`;
};

const whoForm = (context: PageContext, { account }: BrowserSession): Html => html`
<div class="who soft"><span class="wrap">${context.text.signedInAs} <strong>${isolated(account.email)}</strong></span>
${pageForm(context, 'sign-out', html`<button class="link" type="submit">${context.text.notYou}</button>`)}</div>`;

const link = (url: string | null, label: string): Html | undefined =>
  url === null ? undefined : html`<a href="${url}" target="_blank" rel="noopener noreferrer">${label}</a>`;
