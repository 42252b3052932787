import { type Html, html, type Publication, pagePolicy, renderSite, siteStyle, tick } from '@svc/pages';

/** Texts of the landing page. */
const en = {
  title: 'AI on your own plan, in any app',
  description:
    'Connect apps to your own AI plan, set a limit for each, and stop them with one click. Answers come from certified providers in the EU.',
  heading: 'Bring your own AI subscription to other people’s apps',
  lead: 'Connect an app to the plan that you have, give it a limit, and stop it with one click. The app never sees a key, and answers come from certified providers in the EU.',
  signUp: 'Create an account',
  prices: 'See plans and prices',
  consentCaption: 'You allow an app, with a limit that you choose',
  overviewCaption: 'and see what each app uses',
  audiencesTitle: 'Who it is for',
  audiences: [
    {
      title: 'You use apps',
      text: 'One plan pays for the AI in all of them. Each app has its limit, and you see what it used.',
      link: 'What an app gets',
      page: 'what-apps-get',
    },
    {
      title: 'You make an app',
      text: 'Add chat and audio without a provider’s key or bill: OAuth, one endpoint and signed webhooks.',
      link: 'Read the quick start',
      page: 'quick-start',
    },
    {
      title: 'You call models from code',
      text: 'Change the base URL and the key of your client. Pay from a prepaid wallet, and get proof of the provider in every answer.',
      link: 'Use the API',
      page: 'gateway',
    },
  ],
  reasonsTitle: 'Why svc',
  reasons: [
    {
      title: 'You hold the purse',
      text: 'Limits for a week, a month or in total. What an app asks beyond them is refused.',
    },
    {
      title: 'What you write stays yours',
      text: 'Prompts and answers are passed on and never stored. We keep figures only.',
    },
    {
      title: 'Proof, not promises',
      text: 'A signed receipt for each request, with the provider and its zone where you call the API.',
    },
  ],
  consent: {
    label:
      'A page asks whether the app Notes may connect. It names what the app can do, who pays, and a limit of 2 euros a week, with the buttons Deny and Allow.',
    title: 'Notes asks to connect to your account',
    scopes: ['Use chat and audio on your behalf', 'See how much of your plan is used'],
    payer: 'Standard pays',
    left: '€4.12 left this week',
    limit: 'Limit',
    amount: '€2.00 a week',
    deny: 'Deny',
    allow: 'Allow',
  },
  overview: {
    label:
      'The overview of the console: the plan Standard is active, €0.88 of €5.00 are used this week and €3.20 of €15.00 this month, with a chart by day.',
    title: 'Usage of your plan',
    plan: 'Standard',
    state: 'active',
    week: 'This week',
    weekUse: '€0.88 of €5.00',
    month: 'This month',
    monthUse: '€3.20 of €15.00',
    days: 'By day',
  },
};

type LandingText = typeof en;

const it: LandingText = {
  title: 'L’IA con il tuo piano, in qualsiasi app',
  description:
    'Collega le app al tuo piano di IA, dai a ciascuna un limite e fermala con un clic. Le risposte arrivano da fornitori certificati nell’UE.',
  heading: 'Porta il tuo abbonamento di IA nelle app degli altri',
  lead: 'Collega un’app al piano che hai già, dalle un limite e fermala con un clic. L’app non vede mai una chiave, e le risposte arrivano da fornitori certificati nell’UE.',
  signUp: 'Crea un account',
  prices: 'Vedi piani e prezzi',
  consentCaption: 'Consenti un’app, con il limite che scegli tu',
  overviewCaption: 'e vedi quanto usa ciascuna',
  audiencesTitle: 'A chi serve',
  audiences: [
    {
      title: 'Usi delle app',
      text: 'Un solo piano paga l’IA di tutte. Ogni app ha il suo limite, e vedi quanto ha usato.',
      link: 'Che cosa riceve un’app',
      page: 'what-apps-get',
    },
    {
      title: 'Crei un’app',
      text: 'Aggiungi chat e audio senza chiavi né fatture di un fornitore: OAuth, un solo indirizzo e webhook firmati.',
      link: 'Leggi la guida rapida',
      page: 'quick-start',
    },
    {
      title: 'Chiami i modelli dal codice',
      text: 'Cambia l’URL di base e la chiave del tuo client. Paghi da un portafoglio prepagato, e ogni risposta prova da quale fornitore arriva.',
      link: 'Usa l’API',
      page: 'gateway',
    },
  ],
  reasonsTitle: 'Perché svc',
  reasons: [
    {
      title: 'I soldi li gestisci tu',
      text: 'Limiti per settimana, per mese o in totale. Quello che un’app chiede in più viene rifiutato.',
    },
    {
      title: 'Quello che scrivi resta tuo',
      text: 'Domande e risposte passano e non vengono mai conservate. Restano solo le cifre.',
    },
    {
      title: 'Prove, non promesse',
      text: 'Una ricevuta firmata per ogni richiesta, con il fornitore e la sua zona se chiami l’API.',
    },
  ],
  consent: {
    label:
      'Una pagina chiede se l’app Notes può collegarsi. Dice che cosa potrà fare, chi paga e un limite di 2 euro a settimana, con i pulsanti Rifiuta e Consenti.',
    title: 'Notes chiede di collegarsi al tuo account',
    scopes: ['Usare chat e audio per tuo conto', 'Vedere quanto del tuo piano è usato'],
    payer: 'Paga Standard',
    left: 'Restano 4,12 € questa settimana',
    limit: 'Limite',
    amount: '2,00 € a settimana',
    deny: 'Rifiuta',
    allow: 'Consenti',
  },
  overview: {
    label:
      'La panoramica della console: il piano Standard è attivo, questa settimana sono usati 0,88 € di 5,00 € e questo mese 3,20 € di 15,00 €, con un grafico per giorno.',
    title: 'Uso del tuo piano',
    plan: 'Standard',
    state: 'attivo',
    week: 'Questa settimana',
    weekUse: '0,88 € di 5,00 €',
    month: 'Questo mese',
    monthUse: '3,20 € di 15,00 €',
    days: 'Per giorno',
  },
};

const LANDING_TEXTS = { en, it } as const;

/** Heights of the chart's bars, in steps of the style sheet. */
const BARS = [3, 5, 2, 6, 4, 1, 0, 5, 8, 6, 3, 7, 2, 4];

/** Draws the consent page in small. Markup follows theme and language, at a fraction of a picture's bytes. */
const consentPicture = ({
  consent: text,
}: LandingText): Html => html`<div class="shot" role="img" aria-label="${text.label}">
<p class="shot-title"><span class="monogram">N</span>${text.title}</p>
<ul>${text.scopes.map((scope) => html`<li>${tick()}<span>${scope}</span></li>`)}</ul>
<p class="pays"><strong>${text.payer}</strong>${text.left}</p>
<p class="limit"><span>${text.limit}</span><span class="box">${text.amount}</span></p>
<p class="choice"><span class="box">${text.deny}</span><span class="box allow">${text.allow}</span></p>
</div>`;

/** Draws the overview in small. */
const overviewPicture = ({
  overview: text,
}: LandingText): Html => html`<div class="shot" role="img" aria-label="${text.label}">
<p class="shot-title">${text.title}</p>
<p><strong>${text.plan}</strong> <span class="state">${text.state}</span></p>
<p class="meter"><span>${text.week}</span><span>${text.weekUse}</span></p><div class="track"><div class="fill part-18"></div></div>
<p class="meter"><span>${text.month}</span><span>${text.monthUse}</span></p><div class="track"><div class="fill part-21"></div></div>
<p class="soft">${text.days}</p>
<div class="bars">${BARS.map((height) => html`<div class="bar-${height}"></div>`)}</div>
</div>`;

const PICTURE_RULES = `
.shots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(19rem,100%),1fr));gap:1.5rem;margin-top:3rem}
figure{margin:0;display:flex;flex-direction:column;gap:.75rem}figcaption{color:var(--text-soft);text-align:center}
.shot{flex:1;display:flex;flex-direction:column;gap:.75rem;padding:1.5rem;background:var(--surface);border:1px solid var(--line);border-radius:1rem;box-shadow:var(--shadow-raised);font-size:.9375rem}
.shot-title{display:flex;gap:.75rem;align-items:center;font-size:1.125rem;font-weight:var(--weight-strong);line-height:1.3}
.monogram{flex:none;display:grid;place-items:center;width:2.75rem;height:2.75rem;border-radius:.75rem;background:var(--accent);color:var(--on-accent)}
.shot ul{list-style:none;margin:0;padding:0;display:grid;gap:.5rem}.shot li{display:flex;gap:.5rem}.shot li svg{flex:none;width:1.25rem;height:1.25rem;margin-top:.125rem;color:var(--accent)}
.pays{padding:.75rem;background:var(--accent-soft);border-radius:.625rem}.pays strong{display:block}
.limit,.meter{display:flex;justify-content:space-between;align-items:center;gap:.75rem}
.box{padding:.5rem .75rem;border:1px solid var(--line-strong);border-radius:.5rem;text-align:center}
.choice{display:flex;gap:.625rem;margin-top:auto}.choice .box{flex:1;font-weight:var(--weight-medium)}.choice .allow{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
.state{padding:.125rem .5rem;border-radius:1rem;background:var(--good-soft);color:var(--good);font-size:.8125rem;font-weight:var(--weight-medium)}
.track{height:.5rem;border-radius:1rem;background:var(--surface-sunken);box-shadow:inset 0 0 0 1px var(--line)}.fill{height:100%;border-radius:1rem;background:var(--accent)}.part-18{width:18%}.part-21{width:21%}
.bars{display:flex;align-items:flex-end;gap:.375rem;height:5.5rem;margin-top:auto;border-bottom:1px solid var(--line)}.bars div{flex:1;border-radius:.25rem .25rem 0 0;background:var(--accent)}
${BARS.map((height) => `.bars .bar-${height}{height:${(height * 100) / 8}%}`)
  .filter((rule, index, all) => all.indexOf(rule) === index)
  .join('')}
@media (forced-colors:active){.shot,.pays,.state{border:1px solid}.fill,.bars div{background:CanvasText}}
`;

type Locale = keyof typeof LANDING_TEXTS;

const STYLE = siteStyle(`
.hero{display:grid;gap:1.25rem;padding-top:2.5rem}
.cards{list-style:none;margin:1.25rem 0 0;padding:0;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(17rem,100%),1fr));gap:1.5rem}
.cards li{display:flex;flex-direction:column;gap:.5rem;padding:1.25rem;border:1px solid var(--line);border-radius:.75rem;background:var(--surface)}.cards a{margin-top:auto;padding-top:.5rem}
.reasons li{border:0;padding:0;background:none}
.missing{display:grid;gap:1.25rem;padding-top:3rem}
${PICTURE_RULES}`);

/** Content security policy of the public pages. */
export const SITE_POLICY = pagePolicy(STYLE);

/** Renders the page at `/` for visitors who are not signed in. */
export const landingPage = (locale: Locale, publication: Publication): string => {
  const text = LANDING_TEXTS[locale];
  const docs = locale === 'it' ? '/docs/it' : '/docs';
  const content = html`<div class="hero">
<h1>${text.heading}</h1>
<p class="lead">${text.lead}</p>
<p class="actions"><a class="button" href="/sign-up?locale=${locale}">${text.signUp}</a><a class="second" href="/prices?locale=${locale}">${text.prices}</a></p>
</div>
<div class="shots">
<figure>${consentPicture(text)}<figcaption>${text.consentCaption}</figcaption></figure>
<figure>${overviewPicture(text)}<figcaption>${text.overviewCaption}</figcaption></figure>
</div>
<section aria-labelledby="audiences"><h2 id="audiences">${text.audiencesTitle}</h2>
<ul class="cards">${text.audiences.map((audience) => html`<li><h3>${audience.title}</h3><p>${audience.text}</p><a href="${docs}/${audience.page}">${audience.link}</a></li>`)}</ul></section>
<section aria-labelledby="reasons"><h2 id="reasons">${text.reasonsTitle}</h2>
<ul class="cards reasons">${text.reasons.map((reason) => html`<li><h3>${reason.title}</h3><p class="soft">${reason.text}</p></li>`)}</ul></section>`;
  return site({ locale, path: '/', title: text.title, description: text.description, content }, publication);
};

const MISSING = {
  en: { title: 'Page not found', text: 'There is no page at this address.', home: 'To the start page' },
  it: { title: 'Pagina non trovata', text: 'A questo indirizzo non c’è nessuna pagina.', home: 'Alla pagina iniziale' },
} as const;

/** Renders the page at an unknown address for visitors who are not signed in. */
export const missingPage = (locale: Locale, publication: Publication): string => {
  const text = MISSING[locale];
  const content = html`<div class="missing"><h1>${text.title}</h1><p class="lead">${text.text}</p>
<p class="actions"><a class="button" href="/?locale=${locale}">${text.home}</a></p></div>`;
  return site({ locale, path: undefined, title: text.title, content }, publication);
};

interface Content {
  readonly locale: Locale;
  readonly path: '/' | undefined;
  readonly title: string;
  readonly description?: string;
  readonly content: Html;
}

const site = (page: Content, publication: Publication): string => renderSite({ ...page, style: STYLE, publication });
