// Reads the messages of any topic by what the gateway says of it: written from docs/gateway-protocol.md, with Node's own modules alone.
//
//   node decode.js unix:PATH TOPIC COUNT
//
// Prints "ready" when it is subscribed, then COUNT messages, each as a line of JSON. A number that JSON cannot hold exactly is a text.
"use strict";
const net = require("node:net");

const HEAD = 40, HELLO = 1, WELCOME = 2, SUBSCRIBE = 3, TOPIC = 5, REFUSED = 6, MESSAGE = 8, BATCH = 9;
const CHANNEL = 1;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = (byte >>> 1) ^ (byte & 1 ? 0x82f63b78 : 0);
  return byte;
});
const crc32c = (bytes) => (bytes.reduce((crc, byte) => (crc >>> 8) ^ TABLE[(crc ^ byte) & 0xff], 0xffffffff) ^ 0xffffffff) >>> 0;

function frame(kind, channel, payload) {
  const head = Buffer.alloc(HEAD);
  head.write("HRGW", "latin1");
  head.writeUInt8(1, 4);
  head.writeUInt8(kind, 5);
  head.writeUInt32LE(channel, 8);
  head.writeUInt32LE(payload.length, 12);
  head.writeUInt32LE(payload.length ? crc32c(payload) : 0, 32);
  head.writeUInt32LE(crc32c(head.subarray(0, 36)), 36);
  return Buffer.concat([head, payload]);
}

function text(words) {
  const bytes = Buffer.from(words);
  return Buffer.concat([Buffer.from([bytes.length & 0xff, bytes.length >> 8]), bytes]);
}

// The fields of each type of a description; those of the message itself are under "".
function parse(description) {
  const types = new Map([["", []]]);
  let fields = types.get("");
  for (const line of description.split("\n").filter((line) => line !== "")) {
    if (line.startsWith("type ")) {
      types.set(line.slice(5), (fields = []));
      continue;
    }
    const [, offset, bytes, name, type] = /^ ?(\d+) (\d+) (\S+) (.+)$/.exec(line);
    fields.push({ offset: Number(offset), bytes: Number(bytes), name, type });
  }
  return types;
}

const SMALL = {
  u8: "readUInt8", i8: "readInt8", u16: "readUInt16LE", i16: "readInt16LE", u32: "readUInt32LE", i32: "readInt32LE",
  u64: "readBigUInt64LE", i64: "readBigInt64LE", f32: "readFloatLE", f64: "readDoubleLE",
};

// A value of `bytes` bytes. The element of an array has its part of the array's bytes.
function read(types, type, bytes) {
  if (type in SMALL) return bytes[SMALL[type]]();
  if (type === "u128" || type === "i128") {
    const high = type === "u128" ? bytes.readBigUInt64LE(8) : bytes.readBigInt64LE(8);
    return (high << 64n) | bytes.readBigUInt64LE(0);
  }
  if (type.startsWith("[")) {
    const semicolon = type.lastIndexOf(";");
    const length = Number(type.slice(semicolon + 1, -1)), each = bytes.length / length;
    const element = type.slice(1, semicolon);
    return Array.from({ length }, (_, index) => read(types, element, bytes.subarray(index * each, (index + 1) * each)));
  }
  const fields = types.get(type);
  if (!fields) return bytes.toString("hex"); // what the description was too short for
  return Object.fromEntries(fields.map((field) => [field.name, read(types, field.type, bytes.subarray(field.offset, field.offset + field.bytes))]));
}

const exact = (_, value) => (typeof value !== "bigint" ? value : Number.isSafeInteger(Number(value)) ? Number(value) : value.toString());

const [address, topic, wanted] = process.argv.slice(2);
const socket = net.connect(address.replace(/^unix:/, ""));
let types = null, shown = 0, buffered = Buffer.alloc(0);

function show(message) {
  if (!types || shown === Number(wanted)) return;
  console.log(JSON.stringify(read(types, "", message), exact));
  if (++shown === Number(wanted)) socket.end();
}

function take(kind, payload) {
  if (kind === WELCOME) {
    const begin = Buffer.alloc(16); // from the next message on, and the oldest are dropped
    socket.write(frame(SUBSCRIBE, CHANNEL, Buffer.concat([begin, text(topic)])));
  } else if (kind === TOPIC) {
    const length = payload.readUInt16LE(32);
    const [, ...lines] = payload.subarray(34, 34 + length).toString().split("\n");
    const isNew = types === null;
    types = parse(lines.join("\n"));
    if (isNew) console.log("ready");
  } else if (kind === MESSAGE) {
    show(payload);
  } else if (kind === BATCH) {
    for (let at = 0; at < payload.length; ) {
      const length = payload.readUInt32LE(at + 16);
      show(payload.subarray(at + 20, at + 20 + length));
      at += 20 + length;
    }
  } else if (kind === REFUSED) {
    throw new Error(payload.subarray(2).toString());
  }
}

socket.on("connect", () => socket.write(frame(HELLO, 0, text("decode.js"))));
socket.on("data", (bytes) => {
  buffered = Buffer.concat([buffered, bytes]);
  while (buffered.length >= HEAD) {
    const length = buffered.readUInt32LE(12);
    if (buffered.length < HEAD + length) return;
    const payload = buffered.subarray(HEAD, HEAD + length);
    if (buffered.toString("latin1", 0, 4) !== "HRGW" || crc32c(buffered.subarray(0, 36)) !== buffered.readUInt32LE(36))
      throw new Error("what came is no frame");
    if (length && crc32c(payload) !== buffered.readUInt32LE(32)) throw new Error("a frame is damaged");
    take(buffered.readUInt8(5), payload);
    buffered = buffered.subarray(HEAD + length);
  }
});
