export { DownloadReceipt } from './download-receipt.tsx';
