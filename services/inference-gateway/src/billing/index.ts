export { type BillingClient, type BillingClientOptions, createBillingClient } from './billing-client.ts';
