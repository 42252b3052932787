import { judgePassword } from './accounts/judge-password.ts';

export const run = judgePassword;
