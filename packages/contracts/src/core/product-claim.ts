/**
 * Letters that look like Latin ones and stay different in NFKC: Cyrillic, Greek and small capitals. Pairs of the
 * look-alike and the letter, for the letters of the words below.
 */
const LOOK_ALIKES = new Map(
  [
    'аa',
    'αa',
    'ᴀa',
    'ьb',
    'вb',
    'βb',
    'ʙb',
    'сc',
    'ϲc',
    'ᴄc',
    'ԁd',
    'ᴅd',
    'еe',
    'εe',
    'ᴇe',
    'ϝf',
    'ғf',
    'ꜰf',
    'һh',
    'ʜh',
    'іi',
    'ιi',
    'ıi',
    'ɪi',
    'ӏl',
    'ʟl',
    'мm',
    'ᴍm',
    'ոn',
    'ɴn',
    'оo',
    'οo',
    'σo',
    'ᴏo',
    'рp',
    'ρp',
    'ᴘp',
    'гr',
    'ʀr',
    'ѕs',
    'ꜱs',
    'тt',
    'τt',
    'ᴛt',
    'υu',
    'սu',
    'ᴜu',
    'νv',
    'ѵv',
    'ᴠv',
    'уy',
    'γy',
    'ʏy',
    'ᴢz',
  ].map((pair) => [[...pair][0], [...pair][1]] as const),
);
const A = 0x61;
/** First of 26 negative circled and of 26 negative squared capitals, which NFKC leaves as they are. */
const NEGATIVE_CAPITALS = [0x1f150, 0x1f170];
const ALPHABET = 26;

/** Symbols that say "verified" without a word: check marks, also in boxes and circles. */
const CHECK_MARK = /[\u2705\u2713\u2714\u2611\u237b\u{10102}\u{1f5f8}\u{1f5f9}\u{1fbb1}]/u;

const STATES = 'verified|official|certified|approved|verificat[oaie]|ufficial[ei]|certificat[oaie]|approvat[oaie]';
const PARTIES =
  'publisher|app|application|partner|developer|business|account|domain|editore|applicazione|sviluppatore|sviluppatrice|azienda|dominio';
/** Phrases that the product uses of an app or its publisher, in either order of the words. */
const CLAIM_ABOUT_PARTY = new RegExp(String.raw`\b(?:(?:${STATES}) (?:${PARTIES})|(?:${PARTIES}) (?:${STATES}))\b`);
/** A whole name, or its end, that reads like a badge. */
const BADGE = /(?:^|[\p{P}\p{S}] ?)(?:verified|official|verificat[oa]|ufficiale)[\p{P}\p{S} ]*$| verified$|^verified$/u;

/**
 * Returns true if a name claims what only the product may say: to be svc, or to be verified or official. Compares as
 * people read: without case, compatibility forms such as full-width letters, and look-alikes of other scripts. Words
 * within an ordinary name, such as "Official Charts Company", are no claim.
 */
export const claimsToBeProduct = (name: string): boolean => {
  if (CHECK_MARK.test(name)) return true;
  const read = [...name.normalize('NFKC').toLowerCase()].map(toLatin).join('').replaceAll(/\s+/g, ' ').trim();
  const words = read.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => word !== '');
  if (words.includes('svc') || / s v c /.test(` ${words.join(' ')} `)) return true;
  return CLAIM_ABOUT_PARTY.test(words.join(' ')) || BADGE.test(read);
};

const toLatin = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  const first = NEGATIVE_CAPITALS.find((start) => code >= start && code < start + ALPHABET);
  if (first !== undefined) return String.fromCodePoint(A + code - first);
  return LOOK_ALIKES.get(character) ?? character;
};
