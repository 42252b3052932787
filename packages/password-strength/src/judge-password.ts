import { ZxcvbnFactory, type ZxcvbnResult } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as commonDictionary } from '@zxcvbn-ts/language-common';
import { dictionary as englishDictionary } from '@zxcvbn-ts/language-en';
import { dictionary as italianDictionary } from '@zxcvbn-ts/language-it';

/**
 * Passwords of at least 12 characters that stand high in published lists of leaked ones, and what people type to satisfy a
 * form; all in lower case. Shorter ones are refused by their length.
 */
export const commonPasswords: ReadonlySet<string> = new Set(
  `
  000000000000 0000000000000 111111111111 1111111111111 121212121212 123123123123 1231231231234 123321123321
  1234512345123 123456123456 1234561234567 123456789012 1234567890123 12345678901234 123456789012345
  1234567890123456 123456789123 1234567891234 12345678912345 123456789123456 1234567891234567 123456789abc
  123456789qwe 123456789qwer 1234567890abc 1234567890qwe 1234567890qaz 12345qwert12 123abc123abc 123qwe123qwe
  123qweasdzxc 147258369000 147258369147 1a2b3c4d5e6f 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i 1q2w3e4r5t6y7u8i9o
  1q2w3e4r5t6y7u8i9o0p 1qaz1qaz1qaz 1qaz2wsx1qaz 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qazxsw23edc 222222222222 2wsx3edc4rfv
  333333333333 444444444444 555555555555 666666666666 777777777777 888888888888 987654321000 987654321012 987654321098
  999999999999 9876543210123 a123456789012 a1234567890123 a1b2c3d4e5f6 abc123abc123 abc123456789
  abc1234567890 abcd12345678 abcdefgh1234 abcdefghijklm abcdefghijklmnop abcdef123456 abcabcabcabc
  access123456 admin1234567 admin12345678 admin123456789 adminadmin12 adminadmin123 adminadminadmin administrator
  administrator1 administrator123 alexander123 amministratore andrea123456 asdasdasdasd asdf12345678 asdfasdfasdf
  asdfghjkl123 asdfghjkl1234 asdfghjklzxc asdfghjklqwe asdfghjklzxcvbnm azertyuiop12 azertyuiop123 asdf1234asdf
  basketball12 basketball123 benvenuto123 benvenuto1234 bismillah123 buongiorno12 buongiorno123 bienvenue123
  cambiami1234 changeme1234 changeme12345 changeme123456 changemenow1 charlie12345 chocolate123 christopher1
  christopher12 ciaociaociao computer1234 computer12345 contrasena12 contrasena123 correcthorse correcthorsebatterystaple
  daniel123456 default12345 dragon123456 elephant1234 fedcba987654 ferrari12345 football1234 football12345
  forzajuve123 forzainter123 forzamilan123 forzaroma123 forzanapoli1 francesca123 francesco123 giuseppe1234
  hello1234567 hello12345678 helloworld12 helloworld123 iloveyou1234 iloveyou12345 iloveyou123456 iloveyouforever
  iloveyousomuch internet1234 jennifer1234 jessica12345 juventus1234 juventus1897 juventus12345 killer123456
  letmein12345 letmein123456 letmeinplease liverpool123 liverpool1892 lovelovelove lavitaebella mamma1234567
  manchester12 manchesterunited master123456 matteo123456 michael12345 michelle1234 mickeymouse1 minecraft123
  mississippi1 monkey123456 mustang12345 mypassword12 mypassword123 mypassword1234 nothing12345 napoli123456
  p@ssw0rd1234 p@ssword1234 p@ssw0rd12345 p@ssw0rdp@ssw0rd pa55word1234 paradise1234 parola123456 parolachiave
  pass12345678 pass123456789 passpasspass passport1234 passw0rd1234 passw0rd12345 passw0rd123456 password0000
  password0123 password1111 password1212 password1231 password12321 password1234 password1234! password12345
  password12345! password123456 password1234567 password12345678 password123456789 password1234567890 password2020
  password2021 password2022 password2023 password2024 password2025 password2026 password2027 password!123
  password@123 password@1234 password#123 password.123 passwordpassword passwordpassword1 passwort1234 passwort12345
  passwortpasswort passworld123 pokemon12345 princess1234 princess12345 privato12345 q1w2e3r4t5y6 q1w2e3r4t5y6u7
  q1w2e3r4t5y6u7i8 qazqazqazqaz qazwsx123456 qazwsxedc123 qazwsxedcrfv qazwsxedcrfvtgb qqqqqqqqqqqq qweasdzxc123
  qweasdqweasd qwe123qwe123 qweqweqweqwe qwer12345678 qwer1234qwer qwer1234asdf qwerasdfzxcv qwert12345678
  qwertqwertqwert qwerty098765 qwerty111111 qwerty123123 qwerty123456 qwerty1234567 qwerty12345678 qwerty123456789
  qwertyasdfgh qwertyqwerty qwertyqwerty1 qwertyui1234 qwertyuiop12 qwertyuiop123 qwertyuiop1234 qwertyuiop12345
  qwertyuiopas qwertyuiopasdf qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm qwertyuiop[] qwertzuiop12 qwertzuiop123
  qwerty12qwerty robert123456 rockyou12345 secret123456 secretpassword segreto12345 server123456 shadow123456
  snowball1234 spiderman123 starwars1234 startrek1234 summer123456 sunshine1234 sunshine12345 supersegreto
  superman1234 superman12345 supersecret1 supersecret123 tallapoosa12 temp12345678 temporary123 temporanea12 test12345678
  test123456789 testpassword testpassword1 testtesttest testtesttest1 thisisapassword thisismypassword tigger123456
  tinkerbell12 trustno11234 universal123 unicorn12345 valentina123 vincenzo1234 volleyball12 warcraft1234 welcome12345
  welcome123456 welcome1234567 welcomewelcome whatever1234 whatever12345 winter123456 xxxxxxxxxxxx yankees12345
  zaq12wsxcde3 zaq1xsw2cde3 zaq1zaq1zaq1 zxcvbnm12345 zxcvbnm123456 zxcvbnm1234567 zxcvbnmasdfghjkl zxcvbnmzxcvbnm
  zxcvbnm,./12 zzzzzzzzzzzz !qaz2wsx#edc 1qaz@wsx3edc !@#$%^&*()_+ !@#$%^&*()12
  `
    .split(/\s+/)
    .filter((password) => password !== ''),
);

/** Why a password is refused: a common one, made of the owner's address or names, or guessed in another way. */
export type PasswordFault = 'common' | 'own' | 'guessable';

/** A password and what an attacker knows of its owner. */
export interface JudgedPassword {
  readonly password: string;
  readonly context: readonly string[];
}

/** More than ten to the eighth guesses (zxcvbn's "safely unguessable"). */
const SCORE_MIN = 3;
/** Bounds the time for passwords full of letters that stand for digits. */
const SUBSTITUTIONS_MAX = 30;
/** Dictionaries of passwords: the library's, and ours of long ones. */
const PASSWORD_DICTIONARIES = new Set(['passwords-common', 'longPasswords']);

const zxcvbn = new ZxcvbnFactory({
  graphs: adjacencyGraphs,
  dictionary: {
    ...commonDictionary,
    ...englishDictionary,
    ...italianDictionary,
    longPasswords: [...commonPasswords],
  },
  l33tMaxSubstitutions: SUBSTITUTIONS_MAX,
});

/** Strength of a password with the library's keys of an explanation. */
export interface PasswordRating {
  /** From 0, guessed at once, to 4. */
  readonly score: number;
  /** Undefined if the password is strong enough. */
  readonly fault: PasswordFault | undefined;
  readonly warning: string | undefined;
  readonly suggestions: readonly string[];
}

/** Returns what is wrong with a new password, or undefined. Takes up to some hundred milliseconds. */
export const judgePassword = (judged: JudgedPassword): PasswordFault | undefined => faultOf(check(judged));

/** Rates a password as `judgePassword` does, and says why. */
export const ratePassword = (judged: JudgedPassword): PasswordRating => {
  const result = check(judged);
  const { warning, suggestions } = result.feedback;
  return { score: result.score, fault: faultOf(result), warning: warning ?? undefined, suggestions };
};

const check = ({ password, context }: JudgedPassword): ZxcvbnResult =>
  zxcvbn.check(password.normalize('NFKC'), [...context]);

const faultOf = ({ score, sequence }: ZxcvbnResult): PasswordFault | undefined => {
  if (score >= SCORE_MIN) return undefined;
  const dictionaries = sequence.map((match) => String(match['dictionaryName']));
  if (dictionaries.includes('userInputs')) return 'own';
  return dictionaries.some((name) => PASSWORD_DICTIONARIES.has(name)) ? 'common' : 'guessable';
};
