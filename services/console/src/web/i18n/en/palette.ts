/** The command palette. */
export const palette = {
  open: 'Go to…',
  title: 'Go to a page, app, key or guide',
  placeholder: 'Type a name',
  results: 'Places',
  none: 'Nothing has that name.',
  count: (count: number) => (count === 1 ? '1 place' : `${count} places`),
  pages: 'Page',
  webhook: 'webhook',
  keyUsage: 'Usage of the key',
  guides: {
    'quick-start': 'Quick start',
    connect: 'Connect users',
    gateway: 'Use the gateway',
    'receive-webhooks': 'Receive webhooks',
    'go-live': 'Go live',
  },
};
