import { type Html, html } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { field } from './form-field.ts';
import { type Page, renderPage } from './page-layout.ts';
import { PASSKEY_SCRIPT, passkeyForm } from './passkey-form.ts';
import type { SignInFrame } from './sign-in-frame.ts';

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
${field({ name: 'password', label: text.password, type: 'password', autocomplete: 'current-password', isFirst: state.email !== '', isInvalid: state.errors.form !== undefined })}
<button type="submit">${text.signIn}</button>`;
  return render(frame, {
    title: text.signInTitle,
    state,
    form: html`${frame.form('sign-in', fields)}
<p class="other"><a href="/reset-password">${text.forgotten}</a></p>
${passkeyForm(frame, { name: 'passkey', options: frame.passkeyOptions })}
${sso === undefined ? undefined : html`<a class="second" href="${sso.path}">${text.singleSignOn(sso.name)}</a>`}`,
    other: html`${text.noAccount} <a href="${frame.signUpPath}">${text.toSignUp}</a>`,
    script: PASSKEY_SCRIPT,
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
${field({ name: 'password', label: text.newPassword, type: 'password', autocomplete: 'new-password', isFirst: errors.password !== undefined && errors.businessName === undefined, error: errors.password, lengthMin: 12 })}
${field({ name: 'display_name', label: text.displayName, type: 'text', autocomplete: 'name', value: state.displayName, error: errors.displayName, isOptional: true })}
<button type="submit">${text.signUp}</button>`;
  return render(frame, {
    title: text.signUpTitle,
    state,
    form: frame.form('sign-up', fields),
    other: html`${text.hasAccount} <a href="${frame.signInPath}">${text.toSignIn}</a>`,
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
