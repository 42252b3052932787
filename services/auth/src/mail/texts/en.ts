import type { MailTexts } from '../mail.ts';

/** Closing paragraph of every alert. */
const ALERTS = 'You can change the thresholds of these alerts in the console, under “Usage”.';

const AUTO_TOP_UP_FAILURES = {
  payment_method_missing: 'There is no saved payment method any more.',
  declined: 'Your payment method was declined.',
  authentication_required: 'Your bank wants you to confirm the payment yourself.',
} as const;

/** English texts of mails. */
export const english: MailTexts = {
  verify_email: ({ token }) => ({
    subject: 'Confirm your email address',
    paragraphs: ['Confirm that this address is yours, and your account is ready.', 'The link works for three days.'],
    link: { label: 'Confirm address', page: 'verify-email', token },
  }),
  deletion_requested: ({ token, erasedOn }) => ({
    subject: 'Your account will be deleted',
    paragraphs: [
      `The deletion of your account was requested. On ${erasedOn} (UTC) everything that names you is erased for good.`,
      'Sessions, connected apps and API keys have ended. The subscription ends with the period that is paid.',
      'If it was not you, or you have changed your mind, cancel the deletion with this link before then.',
    ],
    link: { label: 'Keep my account', page: 'cancel-deletion', token },
  }),
  sign_up_repeated: () => ({
    subject: 'You already have an account',
    paragraphs: [
      'Someone signed up for svc with this address, which has an account. Nothing has changed.',
      'If it was you, sign in. If you do not remember your password, choose a new one.',
    ],
    link: { label: 'Choose a new password', page: 'reset-password' },
  }),
  reset_password: ({ token }) => ({
    subject: 'Choose a new password',
    paragraphs: [
      'A new password was requested for your account. The link works once, within 30 minutes.',
      'If it was not you, ignore this mail. Your password stays as it is.',
    ],
    link: { label: 'Choose a new password', page: 'reset-password', token },
  }),
  confirm_email_change: ({ token }) => ({
    subject: 'Confirm your new email address',
    paragraphs: [
      'This address is to become the address of an svc account. Confirm it within 24 hours.',
      'If it was not you, ignore this mail. Nothing changes.',
    ],
    link: { label: 'Confirm new address', page: 'confirm-email', token },
  }),
  email_change_requested: ({ token, newEmail }) => ({
    subject: 'Your email address is about to change',
    paragraphs: [
      `A change of your address to ${newEmail} was requested. It takes effect once it is confirmed there.`,
      'If it was not you, undo it with this link within seven days, and choose a new password.',
    ],
    link: { label: 'Undo the change', page: 'undo-email', token },
  }),
  email_changed: ({ token, newEmail }) => ({
    subject: 'Your email address has changed',
    paragraphs: [
      `The address of your account is now ${newEmail}.`,
      'If it was not you, undo it with this link within seven days, and choose a new password.',
    ],
    link: { label: 'Undo the change', page: 'undo-email', token },
  }),
  password_changed: () => ({
    subject: 'Your password has changed',
    paragraphs: [
      'The password of your account has changed, and every other session has ended.',
      'If it was not you, choose a new one now: “Forgot your password?” on the sign-in page.',
    ],
  }),
  new_device: ({ device, network, at }) => ({
    subject: 'Sign-in from a new device',
    paragraphs: [
      `Your account was opened on ${at} from a device that has not been used for it before: ${device ?? 'unknown device'}, network ${network ?? 'unknown'}.`,
      'If it was not you, end the session in the console and change your password.',
    ],
  }),
  api_key_created: ({ keyId, at }) => ({
    subject: 'A new API key',
    paragraphs: [
      `The API key ${keyId} was created for your account on ${at}.`,
      'If it was not you, delete it in the console and change your password.',
    ],
  }),
  factor_changed: ({ change, name }) => ({
    subject: 'Your two-step verification has changed',
    paragraphs: [
      {
        added: `“${name}” was added to your account as a second factor. From now on, signing in asks for it.`,
        removed: `The second factor “${name}” was removed from your account.`,
        recovery_codes_renewed: 'New recovery codes were made for your account. The earlier ones are void.',
        recovery_code_used: 'A recovery code was used to sign in to your account. It does not work again.',
        reset: 'Support removed every second factor and recovery code from your account. Your password now suffices.',
      }[change],
      'If it was not you, change your password now, end all sessions in the console and look at your second factors.',
    ],
  }),
  app_connected: ({ appName }) => ({
    subject: `${appName} is connected`,
    paragraphs: [
      `You have connected the app ${appName}. It can now use your subscription.`,
      'If it was not you, disconnect it in the console and change your password.',
    ],
  }),
  domain_proof_missing: ({ domain, hasLapsed }) => ({
    subject: hasLapsed ? `${domain} is no longer verified` : `The proof of ${domain} is missing`,
    paragraphs: [
      hasLapsed
        ? `For seven days we have not found the proof of ${domain}. Users now read “Not verified” when they connect your apps.`
        : `We have not found the proof of ${domain} today. If it stays missing for seven days, users will read “Not verified” when they connect your apps.`,
      'Publish it again as the console says under Apps, then press Check.',
    ],
  }),
  app_suspended: ({ appName }) => ({
    subject: `${appName} is suspended`,
    paragraphs: [
      `We have suspended your app ${appName}. Its connections have ended, and you cannot activate it for now.`,
      'If you think that this is a mistake, write to our support.',
    ],
  }),
  webhook_blocked: ({ appName, event, eventId, at }) => ({
    subject: `The webhook of ${appName} is blocked`,
    paragraphs: [
      `Your receiver did not accept the event ${eventId} (${event}) on any of eight attempts. The last one was on ${at}.`,
      'Later events of this app wait, so that they arrive in order. None of them is lost.',
      'Repair your receiver. Then press “Retry” in the console, on the app’s “Webhook” page. “Skip” gives the event up.',
    ],
  }),
  webhook_recovered: ({ appName }) => ({
    subject: `The webhook of ${appName} works again`,
    paragraphs: ['Your receiver accepts events again. Those that waited follow in their order.'],
  }),
  cap_alert: ({ percent, used, limit, resetsOn, isWeekly }) => ({
    subject: `${percent}% of your ${isWeekly ? 'weekly' : 'monthly'} limit is used`,
    paragraphs: [
      `Your apps have used ${used} of ${limit} ${isWeekly ? 'this week' : 'this month'}.`,
      ...(percent === 100 ? ['New requests are refused until the limit resets.'] : []),
      `The limit resets on ${resetsOn} (UTC).`,
      ALERTS,
    ],
  }),
  app_budget_alert: ({ percent, used, limit, resetsOn, appName }) => ({
    subject: `${appName} has used ${percent}% of its budget`,
    paragraphs: [
      `The app ${appName} has used ${used} of the ${limit} that you allow it.`,
      resetsOn === null ? 'This budget does not reset.' : `The budget resets on ${resetsOn} (UTC).`,
      'You can change it in the console, under “Connected apps”.',
      ALERTS,
    ],
  }),
  key_limit_alert: ({ percent, used, limit, resetsOn, keyId }) => ({
    subject: `An API key has used ${percent}% of its monthly limit`,
    paragraphs: [
      `The API key ${keyId} has used ${used} of ${limit} this month.`,
      ...(percent === 100 ? ['Its requests are refused until the limit resets.'] : []),
      `The limit resets on ${resetsOn} (UTC).`,
      ALERTS,
    ],
  }),
  auto_top_up_failed: ({ amount, reason }) => ({
    subject: 'The automatic top-up of your wallet failed',
    paragraphs: [
      `The automatic top-up of ${amount} failed. ${AUTO_TOP_UP_FAILURES[reason]}`,
      'Automatic top-ups are now off. Nothing was charged.',
      'Top up in the console, under “Wallet”, with a working payment method. Then turn automatic top-ups on again.',
    ],
  }),
  wallet_low: ({ balance, below }) => ({
    subject: `Your wallet is below ${below}`,
    paragraphs: [
      `Your wallet holds ${balance}. API-key requests that it does not cover are refused.`,
      'Top it up in the console, under “Wallet”.',
      ALERTS,
    ],
  }),
};
