export { AccountWebhookPage, WebhookPage } from './webhook-page.tsx';
