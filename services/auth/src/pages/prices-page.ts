import { internalRoutes, type Locale, type Plan, type PriceList, routes } from '@svc/contracts';
import { estimatePlanUse, planDescription, SHORT_CHAT } from '@svc/contracts/estimate-plan-use';
import { type Html, html, type Publication, pagePolicy, renderSite, siteStyle } from '@svc/pages';
import type { Clock, InternalClient, ReplyContent } from '@svc/service-kit';
import { formatAmount } from '../formats.ts';
import { SECOND_MS } from '../time.ts';

/** Texts of the page of prices. */
const en = {
  title: 'Plans and prices',
  description: 'What a plan costs and what it pays for, and the price of every model for API keys.',
  lead: 'A plan pays for everything that your connected apps do. API keys are paid from a prepaid wallet, by use.',
  plans: 'Plans',
  perMonth: 'a month',
  perYear: 'a year',
  yearly: (amount: string) => `${amount} a month, paid by the year`,
  choose: (name: string) => `Choose ${name}`,
  about: (amounts: string) => `About ${amounts} a month`,
  or: 'or',
  chats: (count: string) => `${count} short chats`,
  hours: (count: string) => `${count} hours of audio`,
  minutes: (count: string) => `${count} minutes of audio`,
  limits: (week: string, month: string) =>
    `Apps may use up to ${week} a week and ${month} a month, at the prices below.`,
  noAudio: 'Without audio transcription',
  noChat: 'Without chat',
  estimate: (input: string, output: string) =>
    `Numbers of chats and hours are estimates, each alone: a short chat has ${input} tokens in and ${output} out (a token is about three quarters of a word). Long conversations and attached files take more.`,
  delegated: 'What an app takes from your plan',
  chat: 'Chat',
  audio: 'Audio transcription',
  perMillion: (input: string, output: string) => `${input} per million tokens in, ${output} per million out`,
  perMinute: (amount: string) => `${amount} a minute`,
  models: 'Models for API keys',
  modelsLead: 'Prices per million tokens. You top up the wallet first, and each request takes exactly what it costs.',
  columns: {
    model: 'Model',
    service: 'Service',
    input: 'Input',
    cached: 'Cached input',
    output: 'Output',
    context: 'Context',
  },
  services: { chat: 'Chat', completions: 'Completions', embeddings: 'Embeddings' },
  none: '–',
  unavailable: 'Prices cannot be shown right now. Try again in a minute.',
  forPrograms: 'The same for programs:',
};

type PricesText = typeof en;

const it: PricesText = {
  title: 'Piani e prezzi',
  description: 'Quanto costa un piano e che cosa paga, e il prezzo di ogni modello per le chiavi API.',
  lead: 'Un piano paga tutto quello che fanno le app collegate. Le chiavi API si pagano a consumo, da un portafoglio prepagato.',
  plans: 'Piani',
  perMonth: 'al mese',
  perYear: 'all’anno',
  yearly: (amount) => `${amount} al mese, pagati una volta all’anno`,
  choose: (name) => `Scegli ${name}`,
  about: (amounts) => `Circa ${amounts} al mese`,
  or: 'o',
  chats: (count) => `${count} chat brevi`,
  hours: (count) => `${count} ore di audio`,
  minutes: (count) => `${count} minuti di audio`,
  limits: (week, month) => `Le app possono usare fino a ${week} a settimana e ${month} al mese, ai prezzi qui sotto.`,
  noAudio: 'Senza trascrizione audio',
  noChat: 'Senza chat',
  estimate: (input, output) =>
    `Il numero di chat e di ore è una stima, ciascuna da sola: una chat breve ha ${input} token in ingresso e ${output} in uscita (un token è circa tre quarti di parola). Conversazioni lunghe e file allegati consumano di più.`,
  delegated: 'Quanto prende un’app dal tuo piano',
  chat: 'Chat',
  audio: 'Trascrizione audio',
  perMillion: (input, output) => `${input} per milione di token in ingresso, ${output} per milione in uscita`,
  perMinute: (amount) => `${amount} al minuto`,
  models: 'Modelli per le chiavi API',
  modelsLead:
    'Prezzi per milione di token. Prima ricarichi il portafoglio, poi ogni richiesta prende esattamente quello che costa.',
  columns: {
    model: 'Modello',
    service: 'Servizio',
    input: 'Ingresso',
    cached: 'Ingresso in cache',
    output: 'Uscita',
    context: 'Contesto',
  },
  services: { chat: 'Chat', completions: 'Completamenti', embeddings: 'Embedding' },
  none: '–',
  unavailable: 'In questo momento i prezzi non si possono mostrare. Riprova tra un minuto.',
  forPrograms: 'Lo stesso per i programmi:',
};

const PRICES_TEXTS = { en, it } as const;

const STYLE = siteStyle(`
.hero{display:grid;gap:1rem;padding-top:2rem}
.plans{list-style:none;margin:1.25rem 0 0;padding:0;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(17rem,100%),1fr));gap:1.5rem}
.plans li{display:flex;flex-direction:column;gap:.625rem;padding:1.5rem;border:1px solid var(--line);border-radius:.75rem;background:var(--surface)}.plans .button,.plans .second{margin-top:auto}
.price strong{font-size:2rem;font-weight:var(--weight-strong);letter-spacing:-.03em}
.hint{color:var(--text-soft);font-size:.9375rem;margin-top:1rem;max-width:48rem}
dl{margin:1rem 0 0;display:grid;gap:.75rem}dt{font-weight:var(--weight-medium)}dd{margin:0;color:var(--text-soft)}
.table{overflow-x:auto;margin-top:1.25rem;border:1px solid var(--line);border-radius:.75rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}th,td{padding:.75rem 1rem;text-align:left;border-top:1px solid var(--line);white-space:nowrap}thead th{border:0;background:var(--surface-sunken);font-size:.9375rem;font-weight:var(--weight-medium)}.number{text-align:right}tbody th{font-weight:var(--weight-medium)}
`);

const MONTHS = 12;
const MINUTES_PER_HOUR = 60;
const SECONDS_PER_MINUTE = 60;

interface View {
  readonly locale: Locale;
  readonly text: PricesText;
  readonly money: (micros: number, currency: string) => string;
  readonly number: (count: number) => string;
}

/** Renders plans and prices. A service that does not respond leaves a sentence in its place. */
export const pricesPage = (
  { plans, prices }: Offer,
  { locale, publication }: { readonly locale: Locale; readonly publication: Publication },
): ReplyContent => {
  const text = PRICES_TEXTS[locale];
  const view: View = {
    locale,
    text,
    money: (micros, currency) => formatAmount(micros, { currency, locale }),
    number: (count) => new Intl.NumberFormat(locale).format(count),
  };
  const { inputTokens, outputTokens } = SHORT_CHAT;
  const unavailable = html`<p class="alert">${text.unavailable}</p>`;
  const content = html`<div class="hero"><h1>${text.title}</h1><p class="lead">${text.lead}</p></div>
<section aria-labelledby="plans"><h2 id="plans">${text.plans}</h2>
${
  plans === undefined
    ? unavailable
    : html`<ul class="plans">${plans.map((plan) => planItem(plan, prices?.delegated, view))}</ul>
<p class="hint">${text.estimate(view.number(inputTokens), view.number(outputTokens))}</p>`
}</section>
${prices === undefined ? unavailable : pricesSections(prices, view)}
<p class="hint">${text.forPrograms} <a href="${routes.listPlans.path}"><code>${routes.listPlans.path}</code></a>, <a href="${routes.listPrices.path}"><code>${routes.listPrices.path}</code></a></p>`;
  return {
    status: 200,
    contentType: 'text/html; charset=utf-8',
    body: renderSite({
      locale,
      path: '/prices',
      title: text.title,
      description: text.description,
      style: STYLE,
      content,
      publication,
    }),
    headers: {
      'cache-control': 'no-cache',
      'content-language': locale,
      'content-security-policy': pagePolicy(STYLE),
      'x-frame-options': 'DENY',
      vary: 'Accept-Language',
    },
  };
};

const planItem = (
  plan: Plan,
  delegated: PriceList['delegated'] | undefined,
  { locale, text, money, number }: View,
): Html => {
  const { name, price, services, weekly_limit_micros: week, monthly_limit_micros: month } = plan;
  const isYearly = price.interval === 'year';
  const uses = delegated === undefined ? [] : estimatesOf(plan, delegated, { text, number });
  return html`<li><h3>${name}</h3>
<p class="price"><strong>${money(price.amount_micros, price.currency)}</strong> ${isYearly ? text.perYear : text.perMonth}</p>
${isYearly && html`<p class="soft">${text.yearly(money(roundToCents(price.amount_micros / MONTHS), price.currency))}</p>`}
<p class="soft">${planDescription(plan, locale)}</p>
${uses.length > 0 && html`<p>${text.about(uses.join(` ${text.or} `))}</p>`}
${!services.chat && html`<p>${text.noChat}</p>`}${!services.audio_transcription && html`<p>${text.noAudio}</p>`}
<p class="soft">${text.limits(money(week, price.currency), money(month, price.currency))}</p>
<a class="second" href="/plans">${text.choose(name)}</a></li>`;
};

const estimatesOf = (
  plan: Plan,
  delegated: PriceList['delegated'],
  { text, number }: Pick<View, 'text' | 'number'>,
): string[] => {
  const { shortChats, audioMinutes } = estimatePlanUse(plan, delegated);
  const audio = (minutes: number): string =>
    minutes < 2 * MINUTES_PER_HOUR
      ? text.minutes(number(minutes))
      : text.hours(number(Math.floor(minutes / MINUTES_PER_HOUR)));
  return [
    ...(shortChats === undefined ? [] : [text.chats(number(shortChats))]),
    ...(audioMinutes === undefined ? [] : [audio(audioMinutes)]),
  ];
};

const CENT_MICROS = 10_000;

const roundToCents = (micros: number): number => Math.round(micros / CENT_MICROS) * CENT_MICROS;

const pricesSections = ({ currency, data, delegated: { chat, audio_transcription: audio } }: PriceList, view: View) => {
  const { text, money } = view;
  const price = (micros: number): string => money(micros, currency);
  const hasContext = data.some((model) => model.context_length !== undefined);
  return html`<section aria-labelledby="delegated"><h2 id="delegated">${text.delegated}</h2>
<dl>
${chat !== null && html`<div><dt>${text.chat}</dt><dd>${text.perMillion(price(chat.input_micros_per_million), price(chat.output_micros_per_million))}</dd></div>`}
${audio !== null && html`<div><dt>${text.audio}</dt><dd>${text.perMinute(price(audio.micros_per_second * SECONDS_PER_MINUTE))}</dd></div>`}
</dl></section>
<section><h2 id="models">${text.models}</h2><p class="soft">${text.modelsLead}</p>
<div class="table" tabindex="0" role="region" aria-labelledby="models"><table>
<thead><tr><th scope="col">${text.columns.model}</th><th scope="col">${text.columns.service}</th><th scope="col" class="number">${text.columns.input}</th><th scope="col" class="number">${text.columns.cached}</th><th scope="col" class="number">${text.columns.output}</th>${hasContext && html`<th scope="col" class="number">${text.columns.context}</th>`}</tr></thead>
<tbody>${data.map((model) => modelRow(model, { price, hasContext, view }))}</tbody>
</table></div></section>`;
};

const modelRow = (
  { id, service, price, context_length: context }: PriceList['data'][number],
  {
    price: write,
    hasContext,
    view: { text, number },
  }: { readonly price: (micros: number) => string; readonly hasContext: boolean; readonly view: View },
): Html =>
  html`<tr><th scope="row">${id}</th><td>${text.services[service]}</td><td class="number">${write(price.input_micros_per_million)}</td><td class="number">${write(price.cached_input_micros_per_million)}</td><td class="number">${service === 'embeddings' ? text.none : write(price.output_micros_per_million)}</td>${hasContext && html`<td class="number">${context === undefined ? text.none : number(context)}</td>`}</tr>`;

/** Plans and prices; a part is undefined while its service does not respond. */
interface Offer {
  readonly plans: readonly Plan[] | undefined;
  readonly prices: PriceList | undefined;
}

/** Returns what is on offer. Never rejects. */
export type ReadOffer = () => Promise<Offer>;

interface ReadOfferDeps {
  readonly billing: Pick<InternalClient, 'call'>;
  readonly gateway: Pick<InternalClient, 'call'>;
  readonly clock: Clock;
}

/** Plans and prices change with a deployment or a reload of the routes file. */
const CACHE_MS = 60 * SECOND_MS;
/** A part that is missing is asked for again soon. */
const RETRY_MS = 5 * SECOND_MS;
/** The page renders without these answers. */
const TIMEOUT_MS = 2 * SECOND_MS;

/** Creates the cached lookup. Concurrent pages share one call. */
export const createReadOffer = ({ billing, gateway, clock }: ReadOfferDeps): ReadOffer => {
  let known: { readonly offer: Promise<Offer>; expiresAtMs: number } | undefined;
  const ask = async (): Promise<Offer> => {
    const options = { timeoutMs: TIMEOUT_MS };
    const [plans, prices] = await Promise.all([
      billing.call(internalRoutes.listOfferedPlans, options).then(
        ({ body }) => body.data,
        () => undefined,
      ),
      gateway.call(internalRoutes.readPriceList, options).then(
        ({ body }) => body,
        () => undefined,
      ),
    ]);
    return { plans, prices };
  };
  return async () => {
    const nowMs = clock().getTime();
    if (known !== undefined && nowMs < known.expiresAtMs) return await known.offer;
    const asked = { offer: ask(), expiresAtMs: nowMs + CACHE_MS };
    known = asked;
    const offer = await asked.offer;
    if (offer.plans === undefined || offer.prices === undefined) asked.expiresAtMs = nowMs + RETRY_MS;
    return offer;
  };
};
