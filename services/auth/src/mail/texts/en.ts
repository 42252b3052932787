import type { MailTexts } from '../mail.ts';

/** Closing paragraph of every alert. */
const ALERTS = 'You can change the thresholds of these alerts in the console, under “Usage”.';

const AUTO_TOP_UP_FAILURES = {
  payment_method_missing: 'There is no saved payment method any more.',
  declined: 'Your payment method was declined.',
  authentication_required: 'Your bank wants you to confirm the payment yourself.',
} as const;

const ROLES = {
  viewer: 'You will see everything and change nothing.',
  billing: 'You will take care of payments and plans.',
  developer: 'You will work on apps, webhooks and your own API keys.',
  admin: 'You will manage everything except the owners.',
  owner: 'You will manage everything.',
} as const;

/** English texts of mails. */
export const english: MailTexts = {
  verify_email: ({ token }) => ({
    subject: 'Confirm your email address',
    paragraphs: [
      'Confirm your address. The link works for three days.',
      'If you have not signed up, ignore this mail.',
    ],
    link: { label: 'Confirm address', page: 'verify-email', token },
  }),
  deletion_requested: ({ token, erasedOn, organization }) => ({
    subject: `${organization ?? 'Your account'} will be deleted`,
    paragraphs: [
      `The deletion of ${organization ?? 'your account'} was requested. On ${erasedOn} (UTC) everything that names you is erased for good.`,
      'Sessions, connected apps and API keys have ended. The subscription ends with the period that is paid.',
      'If it was not you, or you have changed your mind, cancel the deletion with this link before then.',
    ],
    link: { label: 'Cancel the deletion', page: 'cancel-deletion', token },
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
  link_identity: ({ token, provider }) => ({
    subject: `Sign in with ${provider}?`,
    paragraphs: [
      `Someone who has this address at ${provider} wants to sign in to your svc account with it.`,
      'If it was you, allow it with this link within 30 minutes. Your password keeps working.',
      'If it was not you, ignore this mail. Nothing changes.',
    ],
    link: { label: `Sign in with ${provider} from now on`, page: 'sign-in/link/confirm', token },
  }),
  identity_linked: ({ provider }) => ({
    subject: `Your account is linked to ${provider}`,
    paragraphs: [
      `From now on you can also sign in to svc with ${provider}.`,
      'If it was not you, choose a new password and contact support.',
    ],
    link: { label: 'Choose a new password', page: 'reset-password' },
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
    link: { label: 'Choose a new password', page: 'reset-password' },
  }),
  new_device: ({ device, network, at }) => ({
    subject: 'Sign-in from a new device',
    paragraphs: [
      `Your account was opened on ${at} from a device that has not been used for it before: ${device ?? 'unknown device'}, network ${network ?? 'unknown'}.`,
      'If it was not you, end the session in the console and change your password.',
    ],
    link: { label: 'See your devices', page: 'account' },
  }),
  api_key_created: ({ keyName, prefix, at }) => ({
    subject: `A new API key: ${keyName}`,
    paragraphs: [
      `The API key “${keyName}” (${prefix}…) was created for your account on ${at}.`,
      'If it was not you, delete it in the console and change your password.',
    ],
    link: { label: 'See your API keys', page: 'keys' },
  }),
  management_key_created: ({ name, scopes }) => ({
    subject: 'A new management key',
    paragraphs: [
      `The management key “${name}” was created for your account. It may do the following: ${scopes}.`,
      'If it was not you, delete it in the console and change your password.',
    ],
    link: { label: 'See your API keys', page: 'keys' },
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
    link: { label: 'See your second factors', page: 'account' },
  }),
  organization_invitation: ({ token, organization, inviter, role }) => ({
    subject: `Join ${organization} on svc`,
    paragraphs: [
      `${inviter} invites you to work for ${organization}. ${ROLES[role]}`,
      'Sign in with this address, or sign up, and accept. The link works once, for seven days.',
      'If you do not know the sender, ignore this mail. Nothing changes.',
    ],
    link: { label: 'See the invitation', page: 'invitations', token },
  }),
  app_connected: ({ appName }) => ({
    subject: `${appName} is connected`,
    paragraphs: [
      `You have connected the app ${appName}. It can now use your subscription.`,
      'If it was not you, disconnect it in the console and change your password.',
    ],
    link: { label: 'See connected apps', page: 'connections' },
  }),
  domain_proof_missing: ({ domain, hasLapsed }) => ({
    subject: hasLapsed ? `${domain} is no longer verified` : `The proof of ${domain} is missing`,
    paragraphs: [
      hasLapsed
        ? `For seven days we have not found the proof of ${domain}. Users now read “Not verified” when they connect your apps.`
        : `We have not found the proof of ${domain} today. If it stays missing for seven days, users will read “Not verified” when they connect your apps.`,
      'Publish it again as the console says under Apps, then press Check.',
    ],
    link: { label: 'Open your apps', page: 'apps' },
  }),
  app_suspended: ({ appName }) => ({
    subject: `${appName} is suspended`,
    paragraphs: [
      `We have suspended your app ${appName}. Its connections have ended, and you cannot activate it for now.`,
      'If you think that this is a mistake, write to our support.',
    ],
    link: { label: 'Open your apps', page: 'apps' },
  }),
  webhook_blocked: ({ appName, event, eventId, at, page }) => ({
    subject: `The webhook of ${appName ?? 'your account'} is blocked`,
    paragraphs: [
      `Your receiver did not accept the event ${eventId} (${event}) on any of eight attempts. The last one was on ${at}.`,
      'Later events of this webhook wait, so that they arrive in order. None of them is lost.',
      `Repair your receiver. Then press “Retry” in the console, on ${appName === null ? 'your account’s' : 'the app’s'} “Webhook” page. “Skip” gives the event up.`,
    ],
    link: { label: 'Open the webhook', page },
  }),
  webhook_paused: ({ appName, page }) => ({
    subject: `The webhook of ${appName ?? 'your account'} is paused`,
    paragraphs: [
      'It has been blocked for 30 days. Events that have waited for 90 days are given up from now on.',
      `Repair your receiver and press “Retry” in the console, on ${appName === null ? 'your account’s' : 'the app’s'} “Webhook” page. The events that still wait follow in their order.`,
    ],
    link: { label: 'Open the webhook', page },
  }),
  webhook_recovered: ({ appName, page }) => ({
    subject: `The webhook of ${appName ?? 'your account'} works again`,
    paragraphs: ['Your receiver accepts events again. Those that waited follow in their order.'],
    link: { label: 'Open the webhook', page },
  }),
  plan_purchased: ({ planName, on }) => ({
    subject: `You are on ${planName}`,
    paragraphs: [
      `Thank you. Your plan ${planName} is active, and every app that you connect can use it.`,
      `It renews on ${on} (UTC) unless you cancel it before. The invoice is on the page of your plan.`,
    ],
    link: { label: 'Open your plan', page: 'plans' },
  }),
  plan_payment_failed: ({ planName, on }) => ({
    subject: `The payment for ${planName} failed`,
    paragraphs: [
      `We could not charge your payment method for your plan ${planName}.`,
      `Your apps keep working until ${on} (UTC). Update your payment method before then, and the payment is made again.`,
    ],
    link: { label: 'Update the payment method', page: 'plans' },
  }),
  plan_cancelled: ({ planName, on }) => ({
    subject: `Your plan ${planName} ends on ${on}`,
    paragraphs: [
      `You have cancelled your plan ${planName}. Apps can use it until ${on} (UTC), and nothing more is charged.`,
      'If you change your mind, you can resume it until then.',
    ],
    link: { label: 'Open your plan', page: 'plans' },
  }),
  plan_ended: ({ planName, on, isUnpaid }) => ({
    subject: `Your plan ${planName} has ended`,
    paragraphs: [
      isUnpaid
        ? `Your plan ${planName} ended on ${on} (UTC), because a payment is missing.`
        : `Your plan ${planName} ended on ${on} (UTC).`,
      'Connected apps can no longer use it. They stay connected, and work again as soon as you choose a plan.',
    ],
    link: { label: 'Choose a plan', page: 'plans' },
  }),
  cap_alert: ({ percent, used, limit, resetsOn, isWeekly, planName }) => ({
    subject: `${percent}% of the ${isWeekly ? 'weekly' : 'monthly'} limit of your ${planName} plan is used`,
    paragraphs: [
      `Your apps have used ${used} of ${limit} ${isWeekly ? 'this week' : 'this month'}.`,
      ...(percent === 100
        ? ['Until the limit resets, new requests are refused, or paid by your wallet if you have turned extra use on.']
        : []),
      `The limit resets on ${resetsOn} (UTC).`,
      ALERTS,
    ],
    link: { label: 'See plans', page: 'plans' },
  }),
  app_budget_alert: ({ percent, used, limit, resetsOn, appName }) => ({
    subject: `${appName} has used ${percent}% of its budget`,
    paragraphs: [
      `The app ${appName} has used ${used} of the ${limit} that you allow it.`,
      resetsOn === null ? 'This budget does not reset.' : `The budget resets on ${resetsOn} (UTC).`,
      'You can change it in the console, under “Connected apps”.',
      ALERTS,
    ],
    link: { label: 'See connected apps', page: 'connections' },
  }),
  extra_use_alert: ({ percent, used, limit, resetsOn }) => ({
    subject: `Extra use: ${percent}% of this month’s amount is spent`,
    paragraphs: [
      `Beyond the limits of your plan, your apps have spent ${used} of your wallet. You allow ${limit} a month.`,
      ...(percent === 100 ? ['What is left does not pay for another request, so new requests are refused.'] : []),
      `The month ends on ${resetsOn} (UTC). You can change the amount in the console, under “Plan”.`,
      ALERTS,
    ],
    link: { label: 'Open your plan', page: 'plans' },
  }),
  key_limit_alert: ({ percent, used, limit, resetsOn, keyName }) => ({
    subject: `The API key ${keyName} has used ${percent}% of its monthly limit`,
    paragraphs: [
      `The API key “${keyName}” has used ${used} of ${limit} this month.`,
      ...(percent === 100 ? ['Its requests are refused until the limit resets.'] : []),
      `The limit resets on ${resetsOn} (UTC).`,
      ALERTS,
    ],
    link: { label: 'See your API keys', page: 'keys' },
  }),
  auto_top_up_failed: ({ amount, reason }) => ({
    subject: 'The automatic top-up of your wallet failed',
    paragraphs: [
      `The automatic top-up of ${amount} failed. ${AUTO_TOP_UP_FAILURES[reason]}`,
      'Automatic top-ups are now off. Nothing was charged.',
      'Top up in the console, under “Wallet”, with a working payment method. Then turn automatic top-ups on again.',
    ],
    link: { label: 'Open the wallet', page: 'wallet' },
  }),
  wallet_low: ({ balance, below }) => ({
    subject: `Your wallet is below ${below}`,
    paragraphs: [
      `Your wallet holds ${balance}. Requests of API keys and extra use that it does not cover are refused.`,
      'Top it up in the console, under “Wallet”.',
      ALERTS,
    ],
    link: { label: 'Top up the wallet', page: 'wallet' },
  }),
};
