// A client of the gateway, of Go's standard library alone, written from docs/gateway-protocol.md.
//
// As a program it is one end of a test: `client unix:PATH receive TOPIC FROM COUNT` prints what it gets, `… send TOPIC COUNT` sends
// numbers, `… damage TOPIC` sends what is broken too. An address with tls: takes ca.crt, client.crt and client.key from the folder
// $HORUS_CERTIFICATES.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	headBytes = 40
	itemBytes = 20
	version   = 1
	wantsAck  = 1
	// The longest payload that this client accepts.
	maxPayload = 1 << 24
)

// The types of frames.
const (
	hello = iota + 1
	welcome
	subscribe
	advertise
	topic
	refused
	closed
	message
	batch
	ack
	heartbeat
)

// Where a subscription begins.
const (
	fromNow = iota
	fromSequence
	fromUnix
)

// What becomes of messages that are not read in time.
const (
	dropOldest = iota
	dropNewest
	disconnect
)

var (
	order = binary.LittleEndian
	magic = []byte("HRGW")
	table = crc32.MakeTable(crc32.Castagnoli)
)

func checksum(data []byte) uint32 { return crc32.Checksum(data, table) }

// Frame is one that arrived whole.
type Frame struct {
	Kind     byte
	Flags    uint16
	Channel  uint32
	Sequence uint64
	Stamp    uint64
	Payload  []byte
}

// Bytes is the frame as it is sent.
func (f Frame) Bytes() []byte {
	head := make([]byte, headBytes, headBytes+len(f.Payload))
	copy(head, magic)
	head[4], head[5] = version, f.Kind
	order.PutUint16(head[6:], f.Flags)
	order.PutUint32(head[8:], f.Channel)
	order.PutUint32(head[12:], uint32(len(f.Payload)))
	order.PutUint64(head[16:], f.Sequence)
	order.PutUint64(head[24:], f.Stamp)
	order.PutUint32(head[32:], checksum(f.Payload))
	order.PutUint32(head[36:], checksum(head[:36]))
	return append(head, f.Payload...)
}

// Item is a message with its number and its stamp.
type Item struct {
	Sequence, Stamp uint64
	Message         []byte
}

func text(words string) []byte {
	bytes := make([]byte, 2, 2+len(words))
	order.PutUint16(bytes, uint16(len(words)))
	return append(bytes, words...)
}

func readText(payload []byte) string {
	if len(payload) < 2 || len(payload) < 2+int(order.Uint16(payload)) {
		return ""
	}
	return string(payload[2 : 2+int(order.Uint16(payload))])
}

// Client is a connection to a gateway.
type Client struct {
	connection net.Conn
	buffer     []byte
	skip       int
	kept       []Frame
	Damaged    uint64
}

// Open connects, and says who this is.
func Open(address, name string) (*Client, error) {
	connection, err := dial(address)
	if err != nil {
		return nil, err
	}
	client := &Client{connection: connection}
	if err := client.Send(Frame{Kind: hello, Payload: text(name)}); err != nil {
		return nil, err
	}
	_, err = client.answer(welcome, 0)
	return client, err
}

func dial(address string) (net.Conn, error) {
	kind, place, _ := strings.Cut(address, ":")
	if kind != "tls" {
		return net.Dial(kind, place)
	}
	folder := os.Getenv("HORUS_CERTIFICATES")
	authority, err := os.ReadFile(filepath.Join(folder, "ca.crt"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	own, err := tls.LoadX509KeyPair(filepath.Join(folder, "client.crt"), filepath.Join(folder, "client.key"))
	if err != nil {
		return nil, err
	}
	return tls.Dial("tcp", place, &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS13})
}

// Send sends a frame.
func (c *Client) Send(frame Frame) error {
	_, err := c.connection.Write(frame.Bytes())
	return err
}

// Next waits for a frame; what is none is passed over.
func (c *Client) Next() (Frame, error) {
	if len(c.kept) > 0 {
		first := c.kept[0]
		c.kept = c.kept[1:]
		return first, nil
	}
	return c.receive()
}

func (c *Client) receive() (Frame, error) {
	chunk := make([]byte, 1<<16)
	for {
		if frame, found := c.parse(); found {
			return frame, nil
		}
		read, err := c.connection.Read(chunk)
		if err != nil {
			return Frame{}, err
		}
		c.buffer = append(c.buffer, chunk[:read]...)
	}
}

// parse follows the steps of the specification, by their numbers.
func (c *Client) parse() (Frame, bool) {
	for {
		if c.skip > 0 {
			passed := c.skip
			if passed > len(c.buffer) {
				passed = len(c.buffer)
			}
			c.buffer, c.skip = c.buffer[passed:], c.skip-passed
		}
		if len(c.buffer) < headBytes { // 1
			return Frame{}, false
		}
		head := c.buffer[:headBytes]
		if !bytes.Equal(head[:4], magic) || checksum(head[:36]) != order.Uint32(head[36:]) { // 2
			c.Damaged++
			c.goOn(1)
			continue
		}
		length := int(order.Uint32(head[12:]))
		if length > maxPayload || head[4] != version || head[5] < hello || head[5] > heartbeat { // 3
			c.Damaged++
			c.skip = headBytes + length
			continue
		}
		if len(c.buffer) < headBytes+length { // 4
			return Frame{}, false
		}
		payload := c.buffer[headBytes : headBytes+length]
		if checksum(payload) != order.Uint32(head[32:]) { // 5
			c.Damaged++
			c.goOn(headBytes)
			continue
		}
		frame := Frame{head[5], order.Uint16(head[6:]), order.Uint32(head[8:]), order.Uint64(head[16:]), order.Uint64(head[24:]), append([]byte(nil), payload...)}
		c.buffer = c.buffer[headBytes+length:]
		return frame, true // 6
	}
}

// goOn passes over bytes up to what may be a frame, behind the first `from`.
func (c *Client) goOn(from int) {
	if at := bytes.Index(c.buffer[from:], magic); at >= 0 {
		c.buffer = c.buffer[from+at:]
		return
	}
	keep := len(c.buffer) - (len(magic) - 1) // the beginning of one may stand at the end
	if keep < from {
		keep = from
	}
	c.buffer = c.buffer[keep:]
}

func (c *Client) answer(kind byte, channel uint32) ([]byte, error) {
	for {
		frame, err := c.receive()
		switch {
		case err != nil:
			return nil, err
		case frame.Channel == channel && frame.Kind == refused:
			return nil, errors.New("refused: " + readText(frame.Payload))
		case frame.Channel == channel && frame.Kind == kind:
			return frame.Payload, nil
		}
		c.kept = append(c.kept, frame)
	}
}

// Subscribe asks for a topic's messages.
func (c *Client) Subscribe(channel uint32, name string, begin uint32, value uint64, whenFull uint32) error {
	payload := make([]byte, 16)
	order.PutUint64(payload, value)
	order.PutUint32(payload[8:], begin)
	order.PutUint32(payload[12:], whenFull)
	return c.ask(Frame{Kind: subscribe, Channel: channel, Payload: append(payload, text(name)...)})
}

// Advertise makes this client a publisher of a topic.
func (c *Client) Advertise(channel uint32, name string) error {
	return c.ask(Frame{Kind: advertise, Channel: channel, Payload: append(make([]byte, 8), text(name)...)})
}

func (c *Client) ask(frame Frame) error {
	if err := c.Send(frame); err != nil {
		return err
	}
	_, err := c.answer(topic, frame.Channel)
	return err
}

// Ack waits for an acknowledgement: the number, what was taken, what was lost.
func (c *Client) Ack(channel uint32) (uint64, uint32, uint32, error) {
	payload, err := c.answer(ack, channel)
	if err != nil {
		return 0, 0, 0, err
	}
	return order.Uint64(payload), order.Uint32(payload[8:]), order.Uint32(payload[12:]), nil
}

// Items are the messages of a frame.
func (f Frame) Items() []Item {
	if f.Kind == message {
		return []Item{{f.Sequence, f.Stamp, f.Payload}}
	}
	var items []Item
	for rest := f.Payload; f.Kind == batch && len(rest) >= itemBytes; {
		end := itemBytes + int(order.Uint32(rest[16:]))
		items = append(items, Item{order.Uint64(rest), order.Uint64(rest[8:]), rest[itemBytes:end]})
		rest = rest[end:]
	}
	return items
}

func receive(client *Client, out *bufio.Writer, name string, arguments []string) error {
	first, _ := strconv.ParseUint(arguments[0], 10, 64)
	count, _ := strconv.Atoi(arguments[1])
	begin := uint32(fromSequence)
	if first == 0 {
		begin = fromNow
	}
	if err := client.Subscribe(5, name, begin, first, dropOldest); err != nil {
		return err
	}
	fmt.Fprintln(out, "ready")
	for count > 0 {
		if err := out.Flush(); err != nil {
			return err
		}
		frame, err := client.Next()
		if err != nil {
			return err
		}
		for _, item := range frame.Items() {
			fmt.Fprintln(out, item.Sequence, hex.EncodeToString(item.Message))
			count--
		}
	}
	return nil
}

func number(value int) []byte {
	bytes := make([]byte, 8)
	order.PutUint64(bytes, uint64(value))
	return bytes
}

// send sends numbers one by one, then as a batch, and prints the acknowledgements.
func send(client *Client, out *bufio.Writer, name string, arguments []string) error {
	count, _ := strconv.Atoi(arguments[0])
	if err := client.Advertise(6, name); err != nil {
		return err
	}
	frames := []Frame{}
	for value := 0; value < count/2; value++ {
		frames = append(frames, Frame{Kind: message, Flags: wantsAck, Channel: 6, Sequence: uint64(value), Payload: number(value)})
	}
	var payload []byte
	for value := count / 2; value < count; value++ {
		head := make([]byte, itemBytes)
		order.PutUint32(head[16:], 8)
		payload = append(append(payload, head...), number(value)...)
	}
	frames = append(frames, Frame{Kind: batch, Flags: wantsAck, Channel: 6, Sequence: uint64(count / 2), Payload: payload})
	for _, frame := range frames {
		if err := client.Send(frame); err != nil {
			return err
		}
		sequence, taken, lost, err := client.Ack(6)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, sequence, taken, lost)
	}
	return nil
}

// damage sends garbage and damaged frames between good ones, and waits for the heartbeat that counts them.
func damage(client *Client, out *bufio.Writer, name string, _ []string) error {
	if err := client.Advertise(6, name); err != nil {
		return err
	}
	good := Frame{Kind: message, Channel: 6, Payload: []byte("good")}.Bytes()
	flipped := append([]byte(nil), good...)
	flipped[len(flipped)-1] ^= 1
	sent := bytes.Join([][]byte{[]byte("garbage"), good, flipped, good, good[:42], good}, nil)
	if _, err := client.connection.Write(sent); err != nil {
		return err
	}
	for {
		frame, err := client.Next()
		if err != nil {
			return err
		}
		// One that was made before all of it came counts less.
		if p := frame.Payload; frame.Kind == heartbeat && order.Uint64(p[16:]) == 3 {
			fmt.Fprintln(out, order.Uint64(p), order.Uint64(p[8:]), order.Uint64(p[16:]), order.Uint64(p[24:]))
			return nil
		}
	}
}

func main() {
	role := map[string]func(*Client, *bufio.Writer, string, []string) error{"receive": receive, "send": send, "damage": damage}[os.Args[2]]
	out := bufio.NewWriter(os.Stdout)
	client, err := Open(os.Args[1], "client.go")
	if err == nil {
		err = role(client, out, os.Args[3], os.Args[4:])
	}
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}
