# Memory over time: gnuplot -c memory.gp DIR OUTPUT TITLE CARD_BYTES PHASES LAST_EVENT
#
# What is reserved, active, allocated and requested; the card (0: none), where requests were refused,
# and the program's phases as bands.
DIR = ARG1; OUTPUT = ARG2; TITLE = ARG3
card = real(ARG4); phases = int(ARG5); last = real(ARG6)
load DIR."/style.gp"
data = DIR."/timeline.csv"
stats data using (column("reserved_bytes")) name "R" nooutput
stats data using (column("ooms")) name "O" nooutput
most = R_max > 0 ? R_max : 1
shows_card = card > 0 && card < 2 * most
top = (phases > 0 ? 1.25 : 1.15) * (shows_card && card > most ? card : most)
U = scale(top)
set ylabel unit(top) textcolor "#333333"
set xrange [0:last > 0 ? last : 1]
set yrange [0:top / U]
event(n) = column("event")
phase(n) = strcol("kind") eq "phase" ? column("event") : NaN
marks = DIR."/marks.csv"

# Parts that are drawn only where there is something to draw.
BANDS = phases > 0 ? "marks using (phase(0)):(0):(column('event')):(column('end_event')):(0):(top / U):(int($0) % 2 ? 0xf2f2f2 : 0xffffff) with boxxyerror linecolor rgb variable notitle," : ""
NAMES = phases > 0 && phases <= 40 ? ", marks using (phase(0)):(0.99 * top / U):(substr(strcol('text'), 8, 40)) with labels left rotate by -90 offset 0.6, 0 noenhanced textcolor '#666666' notitle" : ""
LINE = shows_card ? ", card / U with lines dashtype 2 linewidth 1.5 linecolor rgb CARD title 'the card'" : ""
OOMS = O_sum > 0 ? ", data using (column('ooms') > 0 ? event(0) : NaN):(column('reserved_bytes') / U) with points pointtype 2 pointsize 1.5 linewidth 2.5 linecolor rgb ALARM title 'out of memory'" : ""

plot @BANDS \
     data using (event(0)):(column("reserved_bytes") / U) with fillsteps linecolor rgb RESERVED title "reserved", \
     data using (event(0)):(column("active_bytes") / U) with fillsteps linecolor rgb ACTIVE title "active", \
     data using (event(0)):(column("allocated_bytes") / U) with steps linewidth 1.5 linecolor rgb ALLOCATED title "allocated", \
     data using (event(0)):(column("requested_bytes") / U) with steps linewidth 1 linecolor rgb REQUESTED title "requested" \
     @LINE @OOMS @NAMES
