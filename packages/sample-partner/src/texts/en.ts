const words = {
  brand: 'Sample partner',
  home: 'Home',
  inbox: 'Webhook inbox',
  pages: 'Pages',
  connectedAs: 'Connected as',
  signOut: 'Sign out',
  disconnect: 'Disconnect',
  footer: 'A demonstration: what it keeps, it keeps in memory until it is started again.',
  documentation: 'How to build such an app',

  welcome: {
    title: 'Welcome',
    heading: 'Bring your own subscription',
    lead: 'This app has no AI of its own. Connect it to your account, and it chats and transcribes on your subscription, which you can end at any time. It never sees your password.',
    connect: 'Connect your account',
    noAccount: 'You have no account yet?',
    openService: 'Open the service',
    thenChoose: ', sign up and choose a plan; locally, payments are played.',
  },
  setup: {
    title: 'Starting',
    heading: 'One moment',
    text: 'This app is being registered at the service. The page goes on by itself.',
    problem: (problem: string) => `It does not work yet: ${problem}. It is tried again and again.`,
  },
  usage: {
    title: 'Your subscription',
    none: 'You have no subscription yet.',
    choose: 'Choose a plan at the service',
    thenReturn: ', then come back.',
    week: 'This week',
    month: 'This month',
    used: (percent: number) => `${percent} % used`,
    of: 'of',
    resets: 'from 0 again at',
    shared: (pending: number, most: number) =>
      `Shared by all apps that you have connected. ${pending} of at most ${most} requests under way.`,
  },
  chat: {
    title: 'Chat',
    you: 'You',
    empty: 'Nothing said yet. Ask something below.',
    message: 'Your message',
    send: 'Send',
    answering: 'Answering…',
    yourMessage: 'Your message was:',
    silent: 'This app was not reached, or fell silent. Your usage above tells whether it was billed.',
  },
  transcription: {
    title: 'Transcription',
    unavailable: 'Transcription is not part of your plan, or not set up at the service. Trying costs nothing.',
    file: 'Audio file, at most 25 MB',
    language: 'Language, two letters, if you know it',
    send: 'Transcribe',
    busy: 'Transcribing…',
    result: 'What was said',
    wrongFile: 'Choose one audio file that is not empty and has at most 25,000,000 bytes.',
  },
  deliveries: {
    label: 'Deliveries',
    own: 'The service delivers this app’s events to',
    verified: '; the SDK verifies each signature before anything is read.',
    others: 'Deliveries of other apps may go to',
    shown: ': they are shown as they come, and believed by nobody. For a receiver of your own,',
    forwards: 'hands them on to',
    empty: 'Nothing has come yet. Connect, or change your subscription at the service, and watch.',
    terminals: 'For terminals:',
    event: 'Event',
    noEvent: 'no event',
    sequence: 'Sequence',
    received: 'Received',
    state: 'Verified',
    isVerified: 'verified',
    isNotVerified: 'not verified',
    about: 'About',
    you: 'you',
  },
  problem: {
    title: 'Something is in the way',
    heading: 'That did not work',
    back: 'Back to the start',
    noPage: 'There is no such page.',
    notAnswered: 'The request could not be answered.',
    notConnected: 'You are not connected.',
    connect: 'Connect',
    connectAgain: 'Connect again',
    openService: 'Open the service',
    ended: 'You are not connected any more. Connect again to go on.',
    denied: 'You chose not to connect, and nothing was shared. You can connect whenever you like.',
    misconfigured:
      'This app is not registered as it should be. Start it again: it looks after its registration at its start.',
    wrongState: 'This answer belongs to no connection that you have begun here. Begin a new one.',
    expired: 'That took too long, or was done before. Begin a new connection.',
    unavailable: 'The service did not answer in time. Try again later.',
    rejected: 'The service refused to connect you. Begin a new connection.',
    notReleased: 'You are signed out here and your tokens are forgotten, but the service did not confirm it.',
    removeThere: 'Remove the app at the service',
    unknown: (request: string) =>
      `It is not known whether this was done and billed. Look at your usage before you try again${request}.`,
    inactive: 'You have no active subscription. Choose a plan at the service, then come back.',
    limit: (until: string) => `Your subscription is used up for now; it goes on ${until}.`,
    later: 'later',
    from: (time: string) => `from ${time}`,
    pending: 'Two of your requests are under way already. Wait for one of them, then try again.',
    noTranscription: 'The service does not offer transcription here at present. Nothing was billed.',
    notIncluded: 'Your plan does not include this. Other plans do.',
    tryAgain: ' Try again in a moment.',
    request: (id: string) => ` (request ${id})`,
  },
};

/** A language that the pages speak. */
export type Language = 'en' | 'it';

/** The texts of one language. */
export type Texts = typeof words & {
  readonly locale: Language;
  readonly otherLanguage: { readonly code: Language; readonly name: string };
};

/** What the pages say in English. */
export const en: Texts = { ...words, locale: 'en', otherLanguage: { code: 'it', name: 'Italiano' } };
