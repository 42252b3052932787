import type { IncomingMessage, ServerResponse } from 'node:http';
import { FORM_BYTES_MAX, type Locale, localeSchema, returnToSchema, routes } from '@svc/contracts';
import { html, type Publication } from '@svc/pages';
import { type Binding, bind, type ReplyContent, readBodyBytes } from '@svc/service-kit';
import { isOwnOrigin } from '../cookies-and-origins.ts';
import { createSignInOptions, type FactorsDeps } from '../factors/index.ts';
import { type StartedSession, sessionCookies, signInOriginOf } from '../sessions/index.ts';
import { refusedFormPage, seeOther } from './page-layout.ts';
import { pageText, preferredLocale } from './page-text.ts';
import { pricesPage, type ReadOffer } from './prices-page.ts';
import { finishByForm, type SignUpFormDeps, signInByForm, signInByPasskeyForm, signUpByForm } from './sign-in-forms.ts';
import { type FormName, type SignInFrame, secondFactorPage, signInPage, signUpPage } from './sign-in-pages.ts';

const DEVICE_PATH = routes.showDevicePage.path;

/** State of the console's sign-in pages, carried in their links and forms. */
interface ConsoleEntrance {
  readonly locale: Locale;
  /** Path of the page to open afterwards. */
  readonly next: string;
  readonly reason?: 'expired' | 'signed_out' | undefined;
}

export interface ConsoleFrameDeps extends Pick<FactorsDeps, 'relyingParty' | 'passkeyChallenges'> {
  readonly sso: { name: string | undefined } | undefined;
  readonly publication: Publication;
}

/** Returns the path if it belongs to this origin, else that of the overview. */
export const safeNext = (next: string | undefined): string => {
  const path = returnToSchema.safeParse(next);
  return path.success ? path.data : '/';
};

/** Returns the surroundings of the forms at `/sign-in` and `/sign-up`. */
export const consoleFrame = (
  { locale, next, reason }: ConsoleEntrance,
  deps: ConsoleFrameDeps,
  page: 'sign-in' | 'sign-up',
): SignInFrame => {
  const { sso, publication } = deps;
  const text = pageText(locale);
  const otherLocale = locale === 'it' ? 'en' : 'it';
  const pathOf = (name: 'sign-in' | 'sign-up', to: Locale = locale): string =>
    `/${name}?${new URLSearchParams({ ...(next === '/' ? {} : { next }), locale: to })}`;
  const notices = { expired: text.sessionExpired, signed_out: text.signedOut };
  return {
    locale,
    text,
    lead: page === 'sign-up' ? text.signUpLead : next.startsWith(DEVICE_PATH) ? text.deviceLead : text.consoleLead,
    form: (name, fields) => html`
<form method="post" action="${actionOf(name)}">
<input type="hidden" name="next" value="${next}">
<input type="hidden" name="locale" value="${locale}">
${fields}
</form>`,
    signInPath: pathOf('sign-in'),
    signUpPath: pathOf('sign-up'),
    sso: sso && { path: ssoPath({ next, reason }), name: sso.name },
    passkeyOptions: createSignInOptions(deps),
    offersBusiness: true,
    notice: reason && html`<p class="notice" role="status">${notices[reason]}</p>`,
    footer: html`<footer><a href="/docs${locale === 'it' ? '/it' : ''}">${text.documentation}</a><a href="/prices?locale=${locale}">${text.prices}</a>${publication.termsUrl !== undefined && html`<a href="${publication.termsUrl}">${text.terms}</a>`}${publication.privacyUrl !== undefined && html`<a href="${publication.privacyUrl}">${text.privacy}</a>`}<a href="${pathOf(page, otherLocale)}" hreflang="${otherLocale}" lang="${otherLocale}">${text.otherLanguage}</a></footer>`,
    referrerPolicy: 'same-origin',
  };
};

/**
 * Returns the path of single sign-on. After a sign-out or the end of a session, the provider has to authenticate the
 * person again: one click must not undo a sign-out, and the new session counts as recently proven.
 */
const ssoPath = ({ next, reason }: Pick<ConsoleEntrance, 'next' | 'reason'>): string =>
  `/v1/console/sso/start?${new URLSearchParams({ return_to: next, ...(reason === undefined ? {} : { fresh: 'true' }) })}`;

const actionOf = (name: FormName): string =>
  name === 'sign-in' || name === 'sign-up' ? `/${name}` : `/sign-in/${name}`;

interface FormRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly clientAddress: string;
}

interface ConsolePagesDeps extends SignUpFormDeps, ConsoleFrameDeps {
  readonly readOffer: ReadOffer;
  readonly publication: Publication;
}

/** Binds the page of prices, and the console's sign-in and sign-up pages. They need no script. */
export const consolePageRoutes = (deps: ConsolePagesDeps): Binding[] => [
  bind(routes.showPrices, async ({ query, req }) => {
    const locale = query.locale ?? preferredLocale(req);
    return pricesPage(await deps.readOffer(), { locale, publication: deps.publication });
  }),
  bind(routes.showSignIn, async ({ query, req }) => {
    const entrance = { locale: query.locale ?? preferredLocale(req), next: safeNext(query.next), reason: query.reason };
    return signInPage(consoleFrame(entrance, deps, 'sign-in'));
  }),
  bind(routes.showSignUp, async ({ query, req }) => {
    const entrance = { locale: query.locale ?? preferredLocale(req), next: safeNext(query.next) };
    return signUpPage(consoleFrame(entrance, deps, 'sign-up'));
  }),
  bind(routes.signInToConsole, (request) => submit(deps, request, signInByForm)),
  bind(routes.finishSignInToConsole, (request) => submit(deps, request, finishByForm)),
  bind(routes.signInToConsoleWithPasskey, (request) => submit(deps, request, signInByPasskeyForm)),
  bind(routes.signUpToConsole, async (request) => {
    const form = await readConsoleForm(deps, request);
    if ('reply' in form) return form.reply;
    const { fields, entrance } = form;
    const origin = signInOriginOf(request, deps.publicBaseUrl);
    const outcome = await signUpByForm(deps, { fields, locale: entrance.locale, origin });
    return 'refused' in outcome
      ? signUpPage(consoleFrame(entrance, deps, 'sign-up'), outcome.refused)
      : enterConsole(deps, request, { started: outcome.started, next: entrance.next });
  }),
];

/** Signs in with a form, or shows the next step: the second factor, or the form with its errors. */
const submit = async (
  deps: ConsolePagesDeps,
  request: FormRequest,
  signInBy: typeof signInByForm | typeof finishByForm | typeof signInByPasskeyForm,
): Promise<ReplyContent> => {
  const form = await readConsoleForm(deps, request);
  if ('reply' in form) return form.reply;
  const { fields, entrance } = form;
  const origin = signInOriginOf(request, deps.publicBaseUrl);
  const outcome = await signInBy(deps, { fields, text: pageText(entrance.locale), origin });
  if ('started' in outcome) return enterConsole(deps, request, { started: outcome.started, next: entrance.next });
  const frame = consoleFrame(entrance, deps, 'sign-in');
  return 'step' in outcome ? secondFactorPage(frame, outcome) : signInPage(frame, outcome.refused);
};

type ConsoleForm = { fields: URLSearchParams; entrance: ConsoleEntrance } | { reply: ReplyContent };

/** Parses a form. Refuses one from another site, which could sign a person in to another account. */
const readConsoleForm = async (deps: ConsolePagesDeps, { req }: FormRequest): Promise<ConsoleForm> => {
  const bytes = await readBodyBytes(req, FORM_BYTES_MAX);
  const fields = new URLSearchParams(bytes.toString('utf8'));
  const isOurs = isOwnOrigin(req.headers.origin, deps.publicBaseUrl);
  // Browsers do not send NUL, and no column can store it.
  const holdsNul = [...fields.values()].some((value) => value.includes('\0'));
  if (!isOurs || holdsNul) return { reply: refusedFormPage(preferredLocale(req)) };
  const locale = localeSchema.safeParse(fields.get('locale'));
  const next = safeNext(fields.get('next') ?? undefined);
  return { fields, entrance: { locale: locale.data ?? preferredLocale(req), next } };
};

const enterConsole = (
  { publicBaseUrl }: ConsolePagesDeps,
  { res }: FormRequest,
  { started, next }: { started: StartedSession; next: string },
): ReplyContent => {
  res.appendHeader('set-cookie', sessionCookies(started, publicBaseUrl));
  // Relative, because the page may be open at `localhost` instead of the IP address in the base URL.
  return seeOther(next);
};
