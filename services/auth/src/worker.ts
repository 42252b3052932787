import { judgePassword } from '@svc/password-strength';

export const run = judgePassword;
