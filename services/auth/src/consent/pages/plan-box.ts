import type { ConsentPlan, Locale, Scope } from '@svc/contracts';
import { type Html, html } from '@svc/pages';
import type { PaidPlan } from '../../billing-client.ts';
import { formatAmount, formatWeekday } from '../../format-amount.ts';
import type { PageText } from './page-text.ts';

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
export const planBox = (page: Surroundings, { scopes, plan, currency }: PlanView): Html => {
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

/** States in which a payment is missing (`past_due` still admits requests for some days). */
const OVERDUE: readonly ConsentPlan['status'][] = ['past_due', 'unpaid'];
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
      ...(OVERDUE.includes(status) ? [text.paymentOverdue] : []),
      ...(!isServed && !OVERDUE.includes(status) ? [text.planPaused] : []),
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
