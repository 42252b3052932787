import type { Locale } from '@svc/contracts';
import { type Html, html } from '@svc/pages';
import type { RequestOptions } from '../../factors/index.ts';
import type { PageText } from './page-context.ts';
import { type PageContext, pageFooter, pageForm } from './page-context.ts';

/** Forms of the sign-in pages. */
export type FormName = 'sign-in' | 'sign-up' | 'second-factor' | 'passkey';

/** Surroundings of the sign-in and sign-up forms: the authorize page or the console. */
export interface SignInFrame {
  readonly locale: Locale;
  readonly text: PageText;
  /** Line below the title. */
  readonly lead: string;
  /** Wraps the fields of a form. */
  readonly form: (name: FormName, fields: Html) => Html;
  readonly signInPath: string;
  readonly signUpPath: string;
  /** Single sign-on, if configured. */
  readonly sso: { readonly path: string; readonly name: string | undefined } | undefined;
  /** Options for signing in with any passkey. */
  readonly passkeyOptions: RequestOptions;
  /** True if a business can sign up here. */
  readonly offersBusiness: boolean;
  /** Above the form. */
  readonly notice?: Html | undefined;
  /** Below the form. */
  readonly cancel?: Html | undefined;
  readonly footer: Html;
  /** Another source that the forms lead to. */
  readonly formTarget?: string | undefined;
  /** Browsers otherwise send `Origin: null` with the forms (Fetch, "serializing a request origin"). */
  readonly referrerPolicy?: 'same-origin';
}

/** Returns the surroundings on the authorize page. */
export const authorizeFrame = (context: PageContext): SignInFrame => {
  const { text, query, ssoPath, ssoName, passkeyOptions } = context;
  const deny = html`<button class="second" type="submit" name="decision" value="deny">${text.cancel}</button>`;
  return {
    locale: query.locale,
    text,
    lead: text.signInLead(context.appName),
    form: (name, fields) => pageForm(context, name, fields),
    signInPath: context.authorizePath(),
    signUpPath: context.authorizePath({ prompt: 'create' }),
    sso: ssoPath === undefined ? undefined : { path: ssoPath, name: ssoName },
    passkeyOptions,
    offersBusiness: false,
    cancel: pageForm(context, 'decision', deny),
    footer: pageFooter(context),
    formTarget: context.formTarget,
  };
};
