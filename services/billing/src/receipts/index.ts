export { openReceiptKeys } from './receipt-keys.ts';
export { receiptInternalRoutes, receiptRoutes } from './routes.ts';
