/** The command palette. */
export const palette = {
  open: 'Go to…',
  title: 'Go to a page, app, key or guide',
  placeholder: 'Type a name',
  results: 'Results',
  none: 'No matches.',
  count: (count: number) => (count === 1 ? '1 result' : `${count} results`),
  pages: 'Page',
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
