/** Texts that every page uses. */
export const common = {
  product: 'svc console',
  skipToContent: 'Skip to the content',
  loading: 'Loading…',
  offlineTitle: 'Not loaded yet',
  offlineText: 'You are offline. This appears as soon as the connection is back.',
  working: 'Working…',
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save changes',
  saved: 'Saved',
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'Could not be copied. Select the text and copy it yourself.',
  tryAgain: 'Try again',
  loadMore: 'Load more',
  optional: 'optional',
  never: 'never',
  none: 'none',
  yes: 'yes',
  no: 'no',
  back: 'Back',
  newTab: '(opens in a new tab)',
  requestId: 'Request id',
  notification: 'Notification',
  notifications: 'Notifications',
  dismiss: 'Dismiss',
};

/** Navigation and the menu of the account. */
export const shell = {
  navigation: 'Main',
  openMenu: 'Open the menu',
  overview: 'Overview',
  plan: 'Plan',
  connections: 'Connected apps',
  gateway: 'API gateway',
  keys: 'API keys',
  wallet: 'Wallet',
  usage: 'Usage',
  developers: 'Developers',
  documentation: 'Documentation',
  apps: 'Apps',
  account: 'Account',
  settings: 'Account settings',
  signOut: 'Sign out',
  signingOut: 'Signing out…',
  language: 'Language',
  theme: 'Appearance',
  themes: { system: 'System', light: 'Light', dark: 'Dark' },
  locales: { it: 'Italiano', en: 'English' },
  notFoundTitle: 'There is no such page',
  notFoundText: 'The address may be mistyped, or the page has moved.',
  toOverview: 'Go to the overview',
  crashTitle: 'This page has failed',
  crashText: 'Nothing you have saved is lost. Load the page again; if it fails again, tell us what you did.',
  reload: 'Load again',
  businessOnlyTitle: 'For business accounts',
  businessOnlyText:
    'Apps are registered and managed by business accounts. To offer an app, turn yours into one in the account settings.',
  outage: 'The service cannot be reached.',
  outageEmpty: 'This page tries again by itself.',
  outageAge: (age: string) => `Last updated ${age}. It refreshes by itself.`,
  notLoadedTitle: 'This page is not loaded yet',
  notLoadedText:
    'You are offline, or the service cannot be reached. The page opens by itself as soon as the connection is back.',
  unreachableTitle: 'The service cannot be reached',
};

/** Errors with the next step, by code. */
export const errors = {
  title: 'That did not work',
  next: {
    network_error: 'The service could not be reached. Check your connection, then try again.',
    timeout: 'No answer came in time. What you asked for may have been done: look before you repeat it.',
    unreadable_answer:
      'The answer could not be read. What you asked for may have been done: look before you repeat it.',
    service_unavailable: 'A part of the service is unavailable for the moment. Try again in a minute.',
    internal_error: 'Something failed on our side. Try again; if it fails again, send us the request id below.',
    not_authenticated: 'Your session has ended. Sign in again.',
    invalid_token: 'Your session has ended. Sign in again.',
    business_account_required: 'Only a business account may do this. Turn yours into one in the account settings.',
    app_suspended: 'An operator has suspended this app. Ask the operator of this service why, and what lifts it.',
    domain_taken: 'Another account has proven that it owns this domain. Check its name, or ask that account.',
    domain_not_proven:
      'The proof was not found at the domain. Publish it as shown, wait a few minutes, then check again.',
    domain_limit_reached: 'You have five domains. Remove one before you add another.',
    email_not_verified:
      'Confirm your email address first: open the link that we have mailed you, or ask for a new one in the account settings.',
    account_deletion_pending:
      'This account is about to be deleted. The link in the mail that we have sent you cancels that.',
    token_invalid: 'This link was used before or has expired. Ask for a new one.',
    not_found: 'It does not exist any more, or it belongs to another account. Go back and load the list again.',
    request_timeout: 'The connection was too slow. Try again.',
    payload_too_large: 'That is too large. Choose something smaller.',
    unsupported_media_type: 'This kind of file is not accepted. Choose a PNG, JPEG or WebP image.',
    invalid_credentials: 'Address or password are wrong. Check both, then try again.',
    too_many_attempts: 'There were too many failed attempts.',
    wrong_password: 'The current password is not right. Type it again.',
    fresh_sign_in_required:
      'This account signs in elsewhere. Sign out, sign in again, and repeat this within ten minutes.',
    reauthentication_required: 'Nothing was changed, as you have not confirmed that it is you. Try again.',
    wrong_code: 'The code or passkey is not right, or it was used already. Wait for the next code, then try again.',
    challenge_invalid: 'That took too long. Sign in again.',
    invalid_second_factor: 'The code or passkey is not right, or it was used already. Try again.',
    invalid_passkey: 'This passkey is not valid here. Sign in another way.',
    second_factor_required: 'Sign in on the sign-in page, which also asks for your second factor.',
    passkey_rejected: 'The passkey could not be added. Start again.',
    passkey_registered: 'This passkey is registered already.',
    passkey_cancelled: 'The passkey was not used. Try again, or use another way.',
    passkey_unavailable:
      'Passkeys do not work in this browser, or at an IP address. Use another browser, or another way.',
    factor_limit_reached: 'You have ten second factors. Remove one before you add another.',
    second_factor_missing: 'There is no second factor any more. The list has been read again.',
    email_taken: 'There is an account with this address already. Sign in instead.',
    public_client_has_no_secret:
      'A public app has no secret: it proves itself by PKCE alone. There is nothing to rotate.',
    subscription_already_active: 'A subscription is active already. Change it in the billing portal.',
    checkout_not_completed:
      'The payment is not complete, or the checkout has expired. If you have paid, try again in a minute; otherwise start anew.',
    billing_account_missing:
      'Nothing has been bought with this account yet, so there is no portal. Choose a plan first.',
    payment_provider_unavailable:
      'The payment provider does not answer. Nothing was charged: try again in a few minutes.',
    payment_method_missing:
      'No payment method is saved yet. Top up once, or subscribe to a plan: the checkout saves the method you pay with.',
    webhook_not_configured: 'No webhook address is set for this app. Set one first.',
    event_not_queued: 'This event is not waiting any more. The list has been read again.',
    event_not_failed:
      'This event is not failed any more, so there is nothing to recover. The list has been read again.',
    validation_error: 'Some of what was sent is not accepted. Correct it, then try again.',
  },
  notAvailableTitle: 'Not available in this release',
  notAvailable: 'This part of the product is not available in this release. The rest works as usual.',
  unknown: (message: string) => `The service says: ${message}`,
  retryAfter: (wait: string) => `You can try again in ${wait}.`,
};

/** Faults at a field. */
export const faults = {
  summary: 'Correct the marked fields.',
  missing: 'Fill in this field.',
  tooShort: (count: number) => `At least ${count} characters.`,
  tooLong: (count: number) => `At most ${count} characters.`,
  tooFew: (count: number) => (count === 1 ? 'At least one is needed.' : `At least ${count} are needed.`),
  tooMany: (count: number) => `At most ${count}.`,
  atLeast: (limit: string) => `At least ${limit}.`,
  atMost: (limit: string) => `At most ${limit}.`,
  integer: 'A whole number.',
  amount: 'An amount such as 25 or 25.50.',
  email: 'An address such as name@example.com.',
  url: 'An address that begins with https:// (or http:// on this machine).',
  pattern: 'This is not in the form that is wanted.',
  notAccepted: 'This value is not accepted.',
};

/** Texts of the services about a value, by the English text. One that is missing here is shown as the service sent it. */
export const serviceFaults: Readonly<Record<string, string>> = {
  'this password is one of the most common ones': 'This password is one of the most common ones. Choose another.',
  'the password must not be made of the address or the name':
    'The password must not be made of your address or your name.',
  'this password is too easy to guess': 'This password is too easy to guess. Use more words, or less common ones.',
};
