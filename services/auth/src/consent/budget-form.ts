import { type BudgetLimit, budgetLimitSchema, type Locale, MICROS_PER_UNIT } from '@svc/contracts';
import { type Html, html } from '@svc/pages';
import type { Clock } from '@svc/service-kit';
import { type ConnectionRecord, hasPassed } from '../connections/index.ts';
import { formatAmount, formatDay, MICRO_DIGITS } from '../formats.ts';
import type { PageText } from '../pages/index.ts';
import { readBudgetProposal } from './authorize-request.ts';

/** The limit initially shown on the consent page. */
export interface BudgetForm {
  readonly limit: BudgetLimit | undefined;
  readonly isPresent: boolean;
  readonly currency: string;
  /** Share of a week's plan that people typically spend on the app; null if it is unknown. */
  readonly typicalPercent: number | null;
  /** The submitted text, if it is invalid. */
  readonly typed?: string;
}

type KnownBudget = Pick<ConnectionRecord, 'budgetLimitMicros' | 'budgetPeriod' | 'budgetExpiresAt' | 'endedAt'>;

/** Returns the connection's current limit, else the app's proposal. */
export const budgetForm = (
  { currency, clock }: { readonly currency: string; readonly clock: Clock },
  authorizationDetails: string | undefined,
  connection: KnownBudget | undefined,
): Omit<BudgetForm, 'typicalPercent'> => {
  const present = connection?.endedAt === null ? toLimit(connection) : undefined;
  const proposal = readBudgetProposal(authorizationDetails, { currency, clock });
  const known = present ?? (proposal === 'malformed' ? undefined : proposal);
  // An end that has passed is not offered again.
  const limit = known && hasPassed(known, clock()) ? { ...known, expires_at: undefined } : known;
  return { limit, isPresent: present !== undefined, currency };
};

const toLimit = ({ budgetLimitMicros, budgetPeriod, budgetExpiresAt }: KnownBudget): BudgetLimit | undefined =>
  budgetLimitMicros === null || budgetPeriod === null
    ? undefined
    : { limit_micros: budgetLimitMicros, period: budgetPeriod, expires_at: budgetExpiresAt?.toISOString() };

const PERIODS: readonly BudgetLimit['period'][] = ['week', 'month', 'total'];
/** Up to micros; a comma as Italians write it. Three digits after it may be thousands, so they are no decimals. */
const AMOUNT = /^(\d{1,9})(?:[.,](\d{1,2}|\d{4,6}))?$/;

/** Renders the fields for the limit. They need no script. */
export const budgetFields = (
  { text, locale }: { readonly text: PageText; readonly locale: Locale },
  form: BudgetForm,
): Html => {
  const { limit, currency, typicalPercent, typed } = form;
  const amount = limit && formatAmount(limit.limit_micros, { currency, locale });
  const words = form.isPresent ? text.budgetPresent : text.budgetAsked;
  const isInvalid = typed !== undefined;
  return html`
<h2 id="budget">${text.budgetTitle}</h2>
${typicalPercent === null ? undefined : html`<p class="soft">${text.typicalUse(typicalPercent)}</p>`}
${amount === undefined || limit === undefined ? undefined : html`<p class="soft">${words(amount, limit.period)}</p>`}
<div class="budget" role="group" aria-labelledby="budget">
<div><label for="limit">${text.budgetLimit(currency)}</label>
<input id="limit" name="limit" type="text" inputmode="decimal" autocomplete="off" maxlength="16" value="${typed ?? plainAmount(limit?.limit_micros, locale)}" aria-describedby="limit-hint"${isInvalid ? html` aria-invalid="true"` : undefined}></div>
<div><label for="period">${text.budgetPeriod}</label>
<select id="period" name="period">${PERIODS.map((period) => html`<option value="${period}"${period === (limit?.period ?? 'week') ? html` selected` : undefined}>${text.budgetPeriods[period]}</option>`)}</select></div>
</div>
<p class="${isInvalid ? 'alert near' : 'hint'}" id="limit-hint"${isInvalid ? html` role="alert"` : undefined}>${isInvalid ? text.budgetInvalid : text.budgetNone}</p>
${limit?.expires_at == null ? undefined : html`<label class="check"><input type="checkbox" name="expires_at" value="${limit.expires_at}" checked> ${text.budgetUntil(formatDay(limit.expires_at, locale))}</label>`}`;
};

/** Parses the fields. Returns undefined if the form has none, and `invalid` for an invalid amount. */
export const readBudgetFields = (fields: URLSearchParams): BudgetLimit | null | undefined | 'invalid' => {
  const amount = fields.get('limit')?.trim();
  if (amount === undefined) return undefined;
  if (amount === '') return null;
  const [, units, decimals = ''] = AMOUNT.exec(amount) ?? [];
  if (units === undefined) return 'invalid';
  const read = budgetLimitSchema.safeParse({
    limit_micros: Number(units) * MICROS_PER_UNIT + Number(decimals.padEnd(MICRO_DIGITS, '0')),
    period: fields.get('period'),
    expires_at: fields.get('expires_at'),
  });
  return read.success ? read.data : 'invalid';
};

const CENT_MICROS = 10_000;

/** Formats an amount as a person types it, never with three decimals. */
const plainAmount = (micros: number | undefined, locale: string): string =>
  micros === undefined
    ? ''
    : new Intl.NumberFormat(locale, {
        minimumFractionDigits: micros % CENT_MICROS === 0 ? 2 : 4,
        maximumFractionDigits: MICRO_DIGITS,
        useGrouping: false,
      }).format(micros / MICROS_PER_UNIT);
