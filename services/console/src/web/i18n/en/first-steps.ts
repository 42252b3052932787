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
