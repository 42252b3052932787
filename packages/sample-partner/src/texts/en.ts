const words = {
  brand: 'Sample partner',
  home: 'Home',
  inbox: 'Webhook inbox',
  pages: 'Pages',
  connectedAs: 'Connected as',
  signOut: 'Sign out',
  disconnect: 'Disconnect',
  footer: 'A demonstration: all data is kept in memory until the next restart.',
  documentation: 'Build an app like this',

  welcome: {
    title: 'Welcome',
    heading: 'Bring your own subscription',
    lead: 'This app has no AI. Connect it to your account, and it chats and transcribes on your subscription, which you can end at any time. It never sees your password.',
    connect: 'Connect your account',
    noAccount: 'No account yet?',
    openService: 'Open the service',
    thenChoose: ', sign up and choose a plan; locally, payments are simulated.',
  },
  setup: {
    title: 'Starting',
    heading: 'One moment',
    text: 'This app is registering at the service. The page reloads by itself.',
    problem: (problem: string) => `It does not work yet: ${problem}. Retrying.`,
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
    silent: 'This app is unreachable or stopped responding. Your usage above shows whether the request was billed.',
  },
  transcription: {
    title: 'Transcription',
    unavailable: 'Your plan does not include transcription, or the service does not offer it. Trying costs nothing.',
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
    shown: ': they are shown unverified. For your own receiver,',
    forwards: 'forwards them to',
    empty: 'Nothing received yet. Connect, or change your subscription at the service, and watch.',
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
    title: 'Something went wrong',
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
    misconfigured: 'This app is not registered correctly. Restart it: it checks its registration at start-up.',
    interaction_required: 'Please sign in at the service and connect again.',
    wrongState: 'This response does not belong to a connection started here. Start a new one.',
    expired: 'That took too long, or was already done. Start a new connection.',
    unavailable: 'The service did not answer in time. Try again later.',
    rejected: 'The service refused the connection. Start a new one.',
    notReleased: 'You are signed out here and your tokens are forgotten, but the service did not confirm it.',
    removeThere: 'Remove the app at the service',
    unknown: (request: string) =>
      `This request may have been completed and billed. Check your usage before you try again${request}.`,
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

/** Languages of the pages. */
export type Language = 'en' | 'it';

/** Texts in one language. */
export type Texts = typeof words & {
  readonly locale: Language;
  readonly otherLanguage: { readonly code: Language; readonly name: string };
};

/** English texts of the pages. */
export const en: Texts = { ...words, locale: 'en', otherLanguage: { code: 'it', name: 'Italiano' } };
