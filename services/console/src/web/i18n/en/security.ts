/** Devices that are signed in. */
export const sessions = {
  title: 'Where you are signed in',
  lead: 'Sign out devices you no longer use. If you do not recognize one, change your password too.',
  unknownDevice: 'Unknown device',
  thisDevice: 'This device',
  signedIn: 'Signed in',
  lastUsed: 'last used',
  from: (network: string) => `network ${network}`,
  end: 'Sign out',
  endOf: (device: string, since: string) => `Sign out ${device}, signed in on ${since}`,
  ending: 'Signing out…',
  ended: 'Device signed out',
  endOthers: 'Sign out all others',
  endOthersTitle: 'Sign out all other devices?',
  endOthersText: 'You stay signed in here. Connected apps and API keys keep working.',
  othersEnded: 'All other devices signed out',
  showAll: (count: number) => `Show all ${count}`,
};

/** Second factors and recovery codes. */
export const factors = {
  title: 'Two-step verification',
  lead: 'A second proof besides your password, so a stolen password is not enough. A passkey also signs you in without the password.',
  empty: 'None yet.',
  types: { totp: 'Authenticator app', passkey: 'Passkey' },
  added: (date: string) => `added on ${date}`,
  lastUsed: 'last used',
  neverUsed: 'never used',
  remove: 'Remove',
  removeOf: (name: string) => `Remove ${name}`,
  removeTitle: (name: string) => `Remove “${name}”?`,
  removeText: 'You can no longer use it to confirm that it is you. Your other second factors stay.',
  removeLastText:
    'It is your last one. From then on your password alone signs you in, and your recovery codes stop working.',
  removed: (name: string) => `“${name}” removed`,
  addTotp: 'Add an authenticator app',
  totpScan: 'Scan the code with your authenticator app.',
  totpQr: 'QR code for your authenticator app. The key below contains the same.',
  totpSecret: 'Key',
  totpSecretText: 'Cannot scan? Type this key into the app, or copy it.',
  totpCode: 'Code',
  totpCodeHint: 'The six digits that the app shows now.',
  totpWrong: 'That code is wrong, or its time is up. Type the one that the app shows now.',
  totpConfirm: 'Turn it on',
  checking: 'Checking…',
  addPasskey: 'Add a passkey',
  passkeyText:
    'This device, a password manager or a security key keeps the passkey. You use it with your fingerprint, face or PIN.',
  passkeyName: 'Name',
  passkeyNameHint: 'To tell it apart from others.',
  passkeyCreate: 'Create the passkey',
  passkeyCreating: 'Waiting for you…',
  passkeyAdded: (name: string) => `“${name}” added`,
  passkeyObstacles: {
    browser: 'This browser cannot use passkeys.',
    ip_address:
      'At an IP address browsers allow no passkeys. Open this page at its host name; on this machine that is localhost.',
  },
  codesTitle: 'Your recovery codes',
  codesText:
    'If you lose your device, one of these lets you in. Each works once. You will not see them again: keep them where only you can find them.',
  codesReplaced: 'Earlier recovery codes no longer work.',
  codes: 'Recovery codes',
  codesDownload: 'Download',
  codesFile: (email: string, date: string) => `Recovery codes of ${email} for svc, ${date}. Each works once.`,
  codesDone: 'I have saved them',
  codesLeft: (count: number) => (count === 1 ? '1 left' : `${count} left`),
  codesFewTitle: 'Few recovery codes left',
  codesFewText: 'Without one, you are locked out if you lose your device. Create new ones.',
  renew: 'Create new codes',
  renewTitle: 'Create new recovery codes?',
  renewText: 'Your current ones stop working right away.',
};

/** Export and deletion of a person's data. */
export const ownData = {
  title: 'Your data',
  exportText: 'One file with everything we store about you. It contains no secrets, prompts or answers.',
  export: 'Download your data',
  exporting: 'Collecting…',
  deleteText: 'Ends all access right away, and erases the account for good a few days later.',
  delete: 'Delete the account',
  deleteTitle: 'Delete your account?',
  deleteNow:
    'Right away: you are signed out everywhere, connected apps and API keys stop working, and your subscription will not renew.',
  deleteApps: 'Right away: the apps you offer are deactivated.',
  deleteWallet: 'Spend your wallet first: what is left cannot be used afterwards.',
  deleteLater:
    'A few days later: everything that identifies you is erased. We email you the exact time, and a link that cancels it until then.',
  passwordNeeded:
    'Type your password. If your account has none, sign out, sign in again, and repeat this within ten minutes.',
  deleteConfirm: 'Delete my account',
  deleting: 'Deleting…',
  deletedTitle: 'Your account is closed',
  erasedAt: (when: string) => `It will be erased on ${when}.`,
  cancelHint: 'Changed your mind? Until then, the link in the email we sent you keeps your account.',
  erasedNow: 'It is being erased now.',
};
