import { common, errors, faults, serviceFaults, shell } from './common.ts';
import { firstSteps } from './first-steps.ts';
import { overview, plans } from './overview.ts';

/** The command palette. */
const palette = {
  open: 'Go to…',
  title: 'Find a page, app, key or guide, or do something',
  placeholder: 'Type a name',
  results: 'Results',
  none: 'No matches.',
  count: (count: number) => (count === 1 ? '1 result' : `${count} results`),
  pages: 'Page',
  acts: 'Do',
  verify: 'Verify a receipt',
  createKey: 'Create an API key',
  topUp: 'Top up the wallet',
  invoices: 'See invoices',
  addPasskey: 'Add a passkey',
  changePassword: 'Change the password',
  registerApp: 'Register an app',
  invite: 'Invite a member',
  theme: (name: string) => `Appearance: ${name}`,
  analytics: 'analytics',
  webhook: 'webhook',
  keyUsage: 'Key usage',
  guides: {
    'quick-start': 'Quick start',
    connect: 'Connect users',
    gateway: 'Use the gateway',
    'receive-webhooks': 'Receive webhooks',
    'go-live': 'Go live',
  },
};

/** Signing in and up. */
const session = {
  email: 'Email address',
  password: 'Password',
  show: 'Show',
  hide: 'Hide',
  showPassword: 'Show password',
  hidePassword: 'Hide password',
  businessName: 'Business name',
  displayName: 'Your name',
  passwordHint: 'At least 12 characters. Several words are easier to remember than symbols.',
  stepUpTitle: 'Confirm that it is you',
  stepUpLead: 'This is a sensitive step, and you signed in a while ago.',
  stepUpCode: 'Use a code instead',
  stepUpPassword: 'Use the password instead',
  stepUpPasskey: 'Use a passkey',
  stepUpSso: (name?: string) => `Sign in again with ${name ?? 'your organization'}`,
  stepUpConfirm: 'Confirm',
  stepUpChecking: 'Checking…',
  toSignIn: 'Sign in',
  forgotten: 'Forgot your password?',
  toConsole: 'Go to the console',
};

/** Charts by day. */
const charts = {
  day: 'Day',
  total: 'Total',
  others: 'Others',
  before: 'Previous period',
  nothingBefore: (days: number) => `nothing in the previous ${days} days`,
  sameAsBefore: (days: number, before: string) => `same as in the previous ${days} days (${before})`,
  moreThanBefore: (percent: string, days: number, before: string) =>
    `${percent} more than in the previous ${days} days (${before})`,
  lessThanBefore: (percent: string, days: number, before: string) =>
    `${percent} less than in the previous ${days} days (${before})`,
  daysInUtc: 'Days begin at midnight UTC',
  keysHint: 'The arrow keys move from day to day, Page Up and Page Down from week to week.',
  showTable: 'Show as a table',
  showChart: 'Show as a chart',
  csv: 'CSV',
  png: 'PNG',
  saveCsv: 'Save as CSV',
  savePng: 'Save as PNG',
};

/** Texts of the frame and of the first page in English, and their shape in every language. */
export const enCore = {
  common,
  shell,
  errors,
  faults,
  serviceFaults,
  session,
  charts,
  palette,
  firstSteps,
  overview,
  plans,
};

/** Texts of the frame and of the first page in one language. */
export type CoreMessages = typeof enCore;
