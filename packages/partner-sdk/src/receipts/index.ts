export {
  type ReceiptClaims,
  type ReceiptFault,
  type ReceiptKeySet,
  ReceiptRejectedError,
  verifyReceipt,
} from './verify-receipt.ts';
