export {
  type JudgedPassword,
  judgePassword,
  type PasswordFault,
  type PasswordRating,
  ratePassword,
} from './judge-password.ts';
