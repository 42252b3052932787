export { type ConsoleFrameDeps, consoleFrame, consolePageRoutes, safeNext } from './console-pages.ts';
export {
  createFormTokens,
  ensureBrowserId,
  FORM_MS,
  type FormContext,
  type FormTokens,
  readBrowserId,
} from './form-tokens.ts';
export { field, messagePage, refusedFormPage, renderPage, seeOther, unavailablePage } from './page-layout.ts';
export { isolated, type PageText, pageText, preferredLocale, preferredUiLocale, withoutSteering } from './page-text.ts';
export { createReadOffer } from './prices-page.ts';
export {
  finishByForm,
  messageFor,
  type SignInOutcome,
  type SubmittedForm,
  signInByForm,
  signInByPasskeyForm,
  signUpByForm,
} from './sign-in-forms.ts';
export { type SignInFrame, secondFactorPage, signInPage, signUpPage } from './sign-in-pages.ts';
