export {
  applyEdits,
  type ByteEdit,
  findDuplicateKey,
  findMember,
  insertFirst,
  insertLast,
  type JsonObjectSpan,
  scanObject,
} from './json-members.ts';
