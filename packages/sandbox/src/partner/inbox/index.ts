export { createInbox, type Inbox, type InboxEntry } from './inbox.ts';
export { inboxRoutes } from './inbox-routes.ts';
export { receiveWebhooks } from './receive-webhooks.ts';
