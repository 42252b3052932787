import { common, errors, faults, serviceFaults, shell } from './common.ts';
import { overview, plans } from './overview.ts';

/** The first steps on the overview. */
export const firstSteps = {
  title: 'First steps',
  lead: 'A few minutes from here to your first result.',
  dismiss: 'Hide',
  choose: 'What would you like to do?',
  paths: { person: 'Use apps', business: 'Offer an app', gateway: 'Use the API' },
  progress: (done: number, all: number) => `${done} of ${all} done`,
  finished: 'All done. You are ready to go.',
  done: 'done',
  arrived: (model: string, status: string, duration: string) =>
    `It has arrived: ${model}, status ${status}, in ${duration}.`,
  steps: {
    plan: { title: 'Choose a plan', text: 'One subscription pays for every app you connect.' },
    connect: {
      title: 'Connect an app',
      text: 'Press “Connect” in any app that works with svc. You set a limit, and can disconnect it at any time.',
    },
    answer: { title: 'Get the first answer', text: 'Ask the connected app a question. It uses your plan.' },
    app: { title: 'Register an app', text: 'Give it a name, and the address people return to after they connect.' },
    webhook: { title: 'Set up its webhook', text: 'It tells your server when people connect, leave or change plan.' },
    event: { title: 'Send a test event', text: 'See that your server receives it and checks its signature.' },
    tryIt: {
      title: 'Connect it yourself',
      text: 'Be your app’s first user: press Connect in it, and get an answer on your own plan.',
    },
    goLive: { title: 'Go live', text: 'Go through the checklist, then let your first user connect.' },
    topUp: { title: 'Top up the wallet', text: 'Requests with API keys are prepaid. One euro is enough to begin.' },
    key: { title: 'Create an API key', text: 'It is shown once: keep it where your program reads its secrets.' },
    request: { title: 'Send the first request', text: 'Set SVC_API_KEY to your key, then run one of these.' },
  },
  acts: {
    plan: 'See the plans',
    connect: 'Try the sample app',
    app: 'Register an app',
    webhook: 'Set up the webhook',
    event: 'Send a test event',
    tryIt: 'Read the quick start',
    goLive: 'Open the checklist',
    topUp: 'Top up',
    key: 'Create a key',
  },
  waiting: {
    answer: 'Waiting for the first answer. It shows up here.',
    request: 'Waiting for the first request. It shows up here.',
  },
};

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
  language: (name: string) => `Language: ${name}`,
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
