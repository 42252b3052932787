export { type ReceiptClaims, ReceiptRejectedError, verifyReceipt } from './verify-receipt.ts';
