import type { ConsentPlan, Locale, Scope } from '@svc/contracts';
import { arrows, cross, type Html, html, productMark, shield, tick } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { type AppRecord, type Icon, toRedirectHost } from '../apps/index.ts';
import type { PaidPlan } from '../billing-client.ts';
import { formatAmount, formatWeekday } from '../formats.ts';
import { isolated, type PageText, renderPage, withoutSteering } from '../pages/index.ts';
import type { BrowserSession } from '../sessions/index.ts';
import { scopeText } from './authorize-request.ts';
import { type BudgetForm, budgetFields } from './budget-form.ts';
import type { Publisher } from './get-consent.ts';
import { type PageContext, pageFooter, pageForm } from './page-context.ts';

interface PlanView {
  readonly scopes: readonly Scope[];
  /** Null without a plan, undefined if it is unknown. */
  readonly plan: PaidPlan | null | undefined;
  readonly currency: string;
}

interface Surroundings {
  readonly locale: Locale;
  readonly text: PageText;
  /** Path of the page, to which the choice of a plan leads back. */
  readonly path: string | undefined;
}

/** Renders who pays for the app's use: what the plan can still pay and until when, or why it cannot. */
const planBox = (page: Surroundings, { scopes, plan, currency }: PlanView): Html => {
  const { text, locale } = page;
  if (!scopes.includes('inference')) return box(text.paysNobody.title, [text.paysNobody.line]);
  if (plan === undefined) return box(text.paysUser.title, [text.paysUser.line]);
  if (plan === null) return html`${box(text.noPlan.title, [text.noPlan.line])}${choosePlan(page)}`;
  const warnings = warningsOf(plan, text, locale);
  const left = warnings.isUsable ? [leftOf(plan, { text, locale, currency })] : [];
  const beyond = plan.extra.enabled ? extraOf(plan.extra, { text, locale, currency }) : text.stopsAtLimits;
  return html`${box(text.paysPlan(plan.name), [...left, text.paysUser.line, beyond])}
${warnings.lines.map((line) => html`<p class="alert near">${line}</p>`)}`;
};

const box = (title: string, lines: readonly string[]): Html =>
  html`<p class="pays"><strong>${title}</strong>${lines.join(' ')}</p>`;

const choosePlan = ({ text, path }: Surroundings): Html => {
  const next = path === undefined ? '' : `?${new URLSearchParams({ next: path })}`;
  return html`<a class="second" href="/plans${next}">${text.choosePlan}</a>`;
};

const PERCENT_MAX = 100;

const warningsOf = (
  { status, services, weekly, monthly, extra }: PaidPlan,
  text: PageText,
  locale: Locale,
): { readonly isUsable: boolean; readonly lines: readonly string[] } => {
  const reached = monthly.used_percent >= PERCENT_MAX ? monthly : weekly;
  const isReached = reached.used_percent >= PERCENT_MAX;
  const capReached = canPayExtra(extra) ? text.capReachedExtra : text.capReached;
  const isServed = services.chat || services.audio_transcription;
  return {
    isUsable: !isReached && isServed,
    lines: [
      ...(isReached ? [capReached(formatWeekday(reached.resets_at, locale))] : []),
      // An overdue plan still admits requests for some days.
      ...(status === 'past_due' ? [text.paymentOverdue] : []),
      ...(isServed ? [] : [text.planPaused]),
      ...(isServed && !services.audio_transcription ? [text.noAudio] : []),
      ...(isServed && !services.chat ? [text.noChat] : []),
    ],
  };
};

const canPayExtra = ({ enabled, used_micros, limit_micros }: PaidPlan['extra']): boolean =>
  enabled && used_micros < limit_micros;

const extraOf = (
  { used_micros, limit_micros }: PaidPlan['extra'],
  { text, locale, currency }: { text: PageText; locale: Locale; currency: string },
): string =>
  text.extraPays(formatAmount(limit_micros, { currency, locale }), formatAmount(used_micros, { currency, locale }));

const CENT_MICROS = 10_000;

/** Words for the window with less left, which is the one that stops the app. */
const leftOf = (
  { weekly, monthly }: ConsentPlan,
  { text, locale, currency }: { text: PageText; locale: Locale; currency: string },
): string => {
  const leftIn = ({ limit_micros, used_micros }: ConsentPlan['weekly']): number =>
    Math.max(0, limit_micros - used_micros);
  const isWeek = leftIn(weekly) <= leftIn(monthly);
  const window = isWeek ? weekly : monthly;
  const wholeCents = Math.floor(leftIn(window) / CENT_MICROS) * CENT_MICROS;
  const words = isWeek ? text.leftThisWeek : text.leftThisMonth;
  return words(formatAmount(wholeCents, { currency, locale }), formatWeekday(window.resets_at, locale));
};

/** Surroundings of the consent page: an app's request in this browser, or that of a device. */
export interface ConsentFrame {
  readonly locale: Locale;
  readonly text: PageText;
  readonly app: AppRecord;
  /** Wraps the fields of a form. */
  readonly form: (name: 'decision' | 'sign-out', fields: Html) => Html;
  readonly footer: (links: readonly (Html | undefined)[]) => Html;
  /** Path of this page, to which the choice of a plan leads back. Undefined if it is too long. */
  readonly path: string | undefined;
  /** The device that asks. */
  readonly device?: Html;
  /** Line that names the next place after the decision. */
  readonly goesTo: Html;
  /** Another source that the forms lead to. */
  readonly formTarget?: string;
}

interface ConsentView {
  readonly session: BrowserSession;
  readonly scopes: readonly Scope[];
  readonly publisher: Publisher;
  readonly icon: Icon;
  readonly isConnected: boolean;
  readonly budget: BudgetForm;
  /** The rest of the person's plan. Null without one, undefined if billing did not respond. */
  readonly plan: PaidPlan | null | undefined;
  readonly notice: string | undefined;
}

/** Returns the surroundings of an app's request on the authorize page. */
export const authorizeConsentFrame = (context: PageContext): ConsentFrame => {
  const { text, app, query } = context;
  return {
    locale: query.locale,
    text,
    app,
    form: (name, fields) => pageForm(context, name, fields),
    footer: (links) => pageFooter(context, links),
    path: context.returnPath,
    goesTo: html`${text.goesTo} <strong>${isolated(toRedirectHost(query.redirect_uri))}</strong>.`,
    formTarget: context.formTarget,
  };
};

/** Renders the consent page of an app. */
export const consentPage = (frame: ConsentFrame, view: ConsentView): ReplyContent => {
  const { text, app, locale } = frame;
  const title = text.consentTitle(titleName(app, view.publisher));
  const content = html`
<div class="parties"><img src="data:${view.icon.contentType};base64,${view.icon.bytes.toString('base64')}" alt="">${arrows()}${productMark()}</div>
<h1>${title}</h1>
${view.notice === undefined ? undefined : html`<p class="alert" role="alert">${view.notice}</p>`}
${view.publisher.isRegistered ? publisherLines(text, view.publisher) : unregisteredLines(text, view.publisher)}
${frame.device}
${view.isConnected ? html`<p class="soft">${text.alreadyConnected}</p>` : undefined}
${whoForm(frame, view.session)}
<h2 id="asks">${text.asks}</h2>
<ul aria-labelledby="asks">${view.scopes.map((scope) => scopeItem(locale, scope, view.plan))}</ul>
${planBox(frame, { ...view, currency: view.budget.currency })}
<h2 id="never">${text.never}</h2>
<ul aria-labelledby="never">${text.neverList.map((line) => html`<li class="never">${cross()}<span class="soft">${line}</span></li>`)}</ul>
${frame.form(
  'decision',
  html`${view.scopes.includes('inference') ? budgetFields(frame, view.budget) : undefined}
<div class="choice">
<button type="submit" name="decision" value="approve">${text.approve}</button>
<button class="second" type="submit" name="decision" value="deny">${text.deny}</button>
</div>`,
)}
<p class="soft wrap">${frame.goesTo} ${text.revocable}</p>
${frame.footer([link(app.homepageUrl, text.homepage), link(app.privacyPolicyUrl, text.privacy)])}`;
  return renderPage(200, { locale, title, content, formTarget: frame.formTarget });
};

/** Returns the app's name. That of an unregistered one is its own claim, so its host stands beside it. */
const titleName = ({ name }: AppRecord, publisher: Publisher): string =>
  publisher.isRegistered ? withoutSteering(name) : `${withoutSteering(name)} (${publisher.name})`;

/** Renders the host of an app that no business registered, in place of a publisher. */
const unregisteredLines = (text: PageText, { name }: Publisher): Html => html`
<p class="alert wrap"><strong>${text.unregistered}</strong> ${text.unregisteredHost} <strong dir="ltr">${name}</strong>. ${text.unregisteredHint}</p>`;

/** Renders the publisher, and its verified domain or that it has none. The symbol only repeats the text. */
const publisherLines = (text: PageText, { name, verifiedDomain }: Publisher): Html => html`
<p class="soft wrap">${text.publishedBy} <strong>${isolated(name)}</strong></p>
${
  verifiedDomain === null
    ? html`<p class="proof unproven soft"><strong>${text.publisherUnverified}</strong> ${text.publisherUnverifiedHint}</p>`
    : html`<p class="proof wrap">${shield()}<span>${text.publisherVerified} <strong dir="ltr">${verifiedDomain}</strong></span></p>`
}`;

const scopeItem = (locale: Locale, scope: Scope, plan: ConsentView['plan']): Html => {
  const { title, description } = scopeText(scope, locale, plan?.services);
  // The box below explains in detail who pays for inference.
  const more = scope === 'inference' ? undefined : html`<span class="soft">${description}</span>`;
  return html`<li>${tick()}<strong>${title}</strong>${more}</li>`;
};

const whoForm = ({ text, form }: ConsentFrame, { account }: BrowserSession): Html => html`
<div class="who"><span class="wrap">${text.signedInAs} <strong>${isolated(account.email)}</strong></span>
${form('sign-out', html`<button class="link" type="submit">${text.notYou}</button>`)}</div>`;

const link = (url: string | null, label: string): Html | undefined =>
  url === null ? undefined : html`<a href="${url}" target="_blank" rel="noopener noreferrer">${label}</a>`;
