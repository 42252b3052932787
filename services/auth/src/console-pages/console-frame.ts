import { type Locale, returnToSchema, routes } from '@svc/contracts';
import { html, type Publication } from '@svc/pages';
import { type FormName, pageText, type SignInFrame } from '../consent/index.ts';
import { createSignInOptions, type FactorsDeps } from '../factors/index.ts';

const DEVICE_PATH = routes.showDevicePage.path;

/** State of the console's sign-in pages, carried in their links and forms. */
export interface ConsoleEntrance {
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
