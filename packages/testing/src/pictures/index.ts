export { comparePicture } from './compare-picture.ts';
export { type PictureBook, usePictureBook } from './picture-book.ts';
export { LOOKS, type Look, takePicture, wear } from './take-picture.ts';
