import type { CoreMessages } from '../en/index.ts';

/** Signing in and up, in Italian. */
export const session: CoreMessages['session'] = {
  email: 'Indirizzo email',
  password: 'Password',
  show: 'Mostra',
  hide: 'Nascondi',
  showPassword: 'Mostra la password',
  hidePassword: 'Nascondi la password',
  businessName: 'Nome dell’azienda',
  displayName: 'Il tuo nome',
  passwordHint: 'Almeno 12 caratteri. Più parole si ricordano meglio di tanti simboli.',
  stepUpTitle: 'Conferma che sei tu',
  stepUpLead: 'È un’operazione delicata e hai fatto l’accesso da un po’.',
  stepUpCode: 'Usa un codice',
  stepUpPassword: 'Usa la password',
  stepUpPasskey: 'Usa una passkey',
  stepUpConfirm: 'Conferma',
  stepUpChecking: 'Verifica in corso…',
  toSignIn: 'Accedi',
  forgotten: 'Password dimenticata?',
  toConsole: 'Vai alla console',
};
