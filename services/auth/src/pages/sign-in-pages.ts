import type { Locale } from '@svc/contracts';
import { type Html, html } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import type { RequestOptions } from '../factors/index.ts';
import type { SecondStep } from '../sessions/index.ts';
import { field, type Page, REVEAL_SCRIPT, renderPage } from './page-layout.ts';
import type { PageText } from './page-text.ts';

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

/**
 * Shows the passkey buttons if the browser supports them on this host, and submits assertions with their form. Converts
 * options itself, because many browsers lack `parseRequestOptionsFromJSON`.
 */
const PASSKEY_SCRIPT = `
const decode = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
const encode = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
  .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const ask = async (options) => {
  const allowCredentials = options.allowCredentials.map((each) => ({ ...each, id: decode(each.id) }));
  const publicKey = { ...options, challenge: decode(options.challenge), allowCredentials };
  const { id, rawId, type, response } = await navigator.credentials.get({ publicKey });
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  const sent = Object.entries({ clientDataJSON, authenticatorData, signature, userHandle }).filter(([, part]) => part);
  const members = Object.fromEntries(sent.map(([name, part]) => [name, encode(part)]));
  return { id, rawId: encode(rawId), type, response: members, clientExtensionResults: {} };
};
for (const button of document.querySelectorAll('button[data-passkey]')) {
  const options = JSON.parse(button.dataset.passkey);
  const alert = button.form.querySelector('[role=alert]');
  const isOurs = location.hostname === options.rpId || location.hostname.endsWith('.' + options.rpId);
  button.hidden = !isOurs || window.PublicKeyCredential === undefined;
  button.form.addEventListener('submit', async (event) => {
    event.preventDefault();
    alert.hidden = true;
    try {
      button.form.elements.assertion.value = JSON.stringify(await ask(options));
      button.form.submit();
    } catch {
      alert.hidden = false;
    }
  });
}
`;

/** Renders the form for a passkey. It stays hidden without the script. */
const passkeyForm = (
  { form, text }: SignInFrame,
  { name, options, fields }: { name: FormName; options: RequestOptions; fields?: Html },
): Html =>
  form(
    name,
    html`${fields}
<input type="hidden" name="assertion">
<p class="alert" role="alert" hidden>${text.passkeyUnused}</p>
<button class="second" type="submit" hidden data-passkey="${JSON.stringify(options)}">${text.usePasskey}</button>`,
  );

/** Content of a submitted form, with its errors by field. Errors under `form` concern all of it. */
export interface FormState {
  readonly email: string;
  readonly displayName: string;
  readonly accountType: 'personal' | 'business';
  readonly businessName: string;
  readonly errors: Partial<Record<'form' | 'email' | 'password' | 'displayName' | 'businessName', string>>;
}

/** A form that has not been submitted. */
export const EMPTY_FORM: FormState = {
  email: '',
  displayName: '',
  accountType: 'personal',
  businessName: '',
  errors: {},
};

/** Renders the form for address and password. */
export const signInPage = (frame: SignInFrame, state: FormState = EMPTY_FORM): ReplyContent => {
  const { text, sso } = frame;
  const fields = html`
${field({ name: 'email', label: text.email, type: 'email', autocomplete: 'username', value: state.email, isFirst: state.email === '' })}
${field({ name: 'password', label: text.password, type: 'password', autocomplete: 'current-password', reveal: text.reveal, isFirst: state.email !== '', isInvalid: state.errors.form !== undefined })}
<button type="submit">${text.signIn}</button>`;
  return render(frame, {
    title: text.signInTitle,
    state,
    form: html`${frame.form('sign-in', fields)}
<p class="other"><a href="/reset-password">${text.forgotten}</a></p>
${passkeyForm(frame, { name: 'passkey', options: frame.passkeyOptions })}
${sso === undefined ? undefined : html`<a class="second" href="${sso.path}">${text.singleSignOn(sso.name)}</a>`}`,
    other: html`${text.noAccount} <a href="${frame.signUpPath}">${text.toSignUp}</a>`,
    script: `${PASSKEY_SCRIPT}${REVEAL_SCRIPT}`,
  });
};

/** Script of the password-strength meter, served by the console. */
const METER_PATH = '/password-strength.js';

/** Renders the sign-up form. */
export const signUpPage = (frame: SignInFrame, state: FormState = EMPTY_FORM): ReplyContent => {
  const { text } = frame;
  const { errors } = state;
  const fields = html`${frame.offersBusiness ? accountTypeFields(frame, state) : undefined}
${field({ name: 'email', label: text.email, type: 'email', autocomplete: 'username', value: state.email, isFirst: errors.password === undefined && errors.businessName === undefined, error: errors.email })}
${field({ name: 'password', label: text.newPassword, type: 'password', autocomplete: 'new-password', reveal: text.reveal, isFirst: errors.password !== undefined && errors.businessName === undefined, error: errors.password, lengthMin: 12 })}
${field({ name: 'display_name', label: text.displayName, type: 'text', autocomplete: 'name', value: state.displayName, error: errors.displayName, isOptional: true })}
<button type="submit">${text.signUp}</button>`;
  return render(frame, {
    title: text.signUpTitle,
    state,
    form: frame.form('sign-up', fields),
    other: html`${text.hasAccount} <a href="${frame.signInPath}">${text.toSignIn}</a>`,
    script: REVEAL_SCRIPT,
    modulePath: METER_PATH,
  });
};

interface PageParts extends Pick<Page, 'title' | 'script' | 'modulePath'> {
  readonly state: FormState;
  readonly form: Html;
  readonly other: Html;
}

const render = (
  { locale, lead, notice, cancel, footer, formTarget, referrerPolicy }: SignInFrame,
  { title, state, form, other, script, modulePath }: PageParts,
): ReplyContent => {
  const { form: error } = state.errors;
  const content = html`
<h1>${title}</h1>
<p class="soft wrap">${lead}</p>
${notice}
${error === undefined ? undefined : html`<p class="alert" role="alert" id="form-error">${error}</p>`}
${form}
${cancel}
<p class="other">${other}</p>
${footer}`;
  return renderPage(200, { locale, title, content, formTarget, referrerPolicy, script, modulePath });
};

/** Renders the choice of account type. Hides the business name for personal accounts if the browser supports it. */
const accountTypeFields = ({ text }: SignInFrame, { accountType, businessName, errors }: FormState): Html => html`
<fieldset class="types"><legend>${text.accountType}</legend>
${(['personal', 'business'] as const).map(
  (type) =>
    html`<label class="check"><input type="radio" name="account_type" value="${type}"${
      accountType === type ? html` checked` : undefined
    }>${text.accountTypes[type]}</label>`,
)}
<div class="business">
${field({ name: 'business_name', label: text.businessName, type: 'text', autocomplete: 'organization', value: businessName, isFirst: errors.businessName !== undefined, error: errors.businessName, isOptional: true })}
</div>
</fieldset>`;

/** Second step of a sign-in, with its error. */
export interface AskedStep {
  readonly step: SecondStep;
  readonly error?: string | undefined;
}

/** Renders the form for the second factor. One field takes a code of an authenticator app or a recovery code. */
export const secondFactorPage = (frame: SignInFrame, asked: AskedStep): ReplyContent => {
  const { text, locale, lead, formTarget, referrerPolicy } = frame;
  const { challenge, passkeyOptions: options } = asked.step;
  const fields = html`<input type="hidden" name="challenge" value="${challenge}">`;
  const content = html`
<h1>${text.secondFactorTitle}</h1>
<p class="soft wrap">${lead}</p>
${options && passkeyForm(frame, { name: 'second-factor', options, fields })}
${frame.form('second-factor', html`${fields}${codeField(frame, asked)}<button type="submit">${text.signIn}</button>`)}
${frame.cancel}
<p class="other"><a href="${frame.signInPath}">${text.otherAccount}</a></p>
${frame.footer}`;
  const script = options && PASSKEY_SCRIPT;
  return renderPage(200, { locale, title: text.secondFactorTitle, content, formTarget, referrerPolicy, script });
};

const codeField = ({ text }: SignInFrame, { step, error }: AskedStep): Html => {
  const hasTotp = step.factors.includes('totp');
  return field({
    name: 'code',
    label: hasTotp ? text.code : text.recoveryCode,
    hint: hasTotp ? text.codeHint : text.recoveryCodeHint,
    type: 'text',
    autocomplete: hasTotp ? 'one-time-code' : 'off',
    isFirst: true,
    error,
  });
};
