import type { walletSchema } from '@svc/contracts';
import type { z } from 'zod';

/** The wallet as its owner sees it. */
export type Wallet = z.infer<typeof walletSchema>;
