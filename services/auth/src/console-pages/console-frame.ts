import { type Locale, returnToSchema } from '@svc/contracts';
import { html } from '@svc/pages';
import { type FormName, pageText, type SignInFrame } from '../consent/index.ts';
import { createSignInOptions, type FactorsDeps } from '../factors/index.ts';

/** State of the console's sign-in pages, carried in their links and forms. */
export interface ConsoleEntrance {
  readonly locale: Locale;
  /** Path of the page to open afterwards. */
  readonly next: string;
  readonly reason?: 'expired' | 'signed_out' | undefined;
}

export interface ConsoleFrameDeps extends Pick<FactorsDeps, 'relyingParty' | 'passkeyChallenges'> {
  readonly sso: { name: string | undefined } | undefined;
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
  const { sso } = deps;
  const text = pageText(locale);
  const otherLocale = locale === 'it' ? 'en' : 'it';
  const pathOf = (name: 'sign-in' | 'sign-up', to: Locale = locale): string =>
    `/${name}?${new URLSearchParams({ ...(next === '/' ? {} : { next }), locale: to })}`;
  const notices = { expired: text.sessionExpired, signed_out: text.signedOut };
  return {
    locale,
    text,
    lead: page === 'sign-in' ? text.consoleLead : text.signUpLead,
    form: (name, fields) => html`
<form method="post" action="${actionOf(name)}">
<input type="hidden" name="next" value="${next}">
<input type="hidden" name="locale" value="${locale}">
${fields}
</form>`,
    signInPath: pathOf('sign-in'),
    signUpPath: pathOf('sign-up'),
    sso: sso && { path: `/v1/console/sso/start?${new URLSearchParams({ return_to: next })}`, name: sso.name },
    passkeyOptions: createSignInOptions(deps),
    offersBusiness: true,
    notice: reason && html`<p class="notice" role="status">${notices[reason]}</p>`,
    footer: html`<footer><a href="/docs${locale === 'it' ? '/it' : ''}">${text.documentation}</a><a href="${pathOf(page, otherLocale)}" hreflang="${otherLocale}" lang="${otherLocale}">${text.otherLanguage}</a></footer>`,
    referrerPolicy: 'same-origin',
  };
};

const actionOf = (name: FormName): string =>
  name === 'sign-in' || name === 'sign-up' ? `/${name}` : `/sign-in/${name}`;
