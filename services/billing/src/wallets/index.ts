export { creditWallet } from './credit-wallet.ts';
export { creditRefusedRefund, debitRefund, reverseTopUp } from './queries.ts';
export { readWallet } from './read-wallet.ts';
export { walletRoutes } from './routes.ts';
