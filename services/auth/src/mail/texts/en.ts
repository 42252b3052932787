import type { MailTexts } from '../mail.ts';

/** English texts of mails. */
export const english: MailTexts = {
  verify_email: ({ token }) => ({
    subject: 'Confirm your email address',
    paragraphs: ['Confirm that this address is yours, and your account is ready.', 'The link works for three days.'],
    link: { label: 'Confirm address', page: 'verify-email', token },
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
      'If it was not you, choose a new one now: “Forgotten password?” on the sign-in page.',
    ],
  }),
  new_device: ({ device, network, at }) => ({
    subject: 'Sign-in from a new device',
    paragraphs: [
      `Your account was opened from a device that has not been used for it before: ${device}, network ${network}, ${at}.`,
      'If it was not you, end the session in the console and change your password.',
    ],
  }),
  api_key_created: ({ name }) => ({
    subject: 'A new API key',
    paragraphs: [
      `The API key “${name}” was created for your account.`,
      'If it was not you, delete it in the console and change your password.',
    ],
  }),
  app_connected: ({ appName }) => ({
    subject: `${appName} is connected`,
    paragraphs: [
      `You have connected the app ${appName}. It can now use your subscription.`,
      'If it was not you, disconnect it in the console and change your password.',
    ],
  }),
};
