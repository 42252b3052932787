export { receiptInternalRoutes, receiptRoutes } from './routes.ts';
export { createReceiptSigning, type ReceiptSigning } from './sign-receipt.ts';
